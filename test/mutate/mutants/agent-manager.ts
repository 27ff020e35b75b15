import type { Mutant } from '../mutant.ts';

const unit = (...names: readonly string[]) =>
  ['unit', ...names.map((name) => `src/agent/${name}.test.ts`)] as const;
const contested = ['unit', 'test/property/agent-contested.test.ts'] as const;
const others = { file: 'src/agent/apply/foreign.ts', tests: unit('apply/foreign') };
const message = { file: 'src/agent/bus/message.ts', tests: unit('bus/message') };
const bus = { file: 'src/agent/bus/system-bus.ts', tests: unit('bus/network-manager') };
const manager = { file: 'src/agent/bus/network-manager.ts', tests: unit('bus/network-manager') };
const kernel = { file: 'src/agent/apply/kernel.ts', tests: unit('apply/kernel') };
const settings = { file: 'src/agent/planning/settings.ts', tests: unit('planning/settings') };
const state = { file: 'src/agent/state.ts', tests: unit('state') };
const obsolete = { file: 'src/agent/planning/obsolete.ts', tests: unit('planning/plan-removal') };
const returned = { file: 'src/agent/planning/ownership.ts', tests: unit('planning/plan-removal') };

/** What network managers do while the agent works, and what they hold of NICs that have left. */
export const agentManagerMutants: readonly Mutant[] = [
  {
    file: 'src/agent/bus/network-manager.ts',
    find: 'const ofOthers = 0x4 | 0x8;',
    replace: 'const ofOthers = 0x8;',
    tests: ['unit', 'src/agent/bus/network-manager.test.ts'],
  },
  {
    file: 'src/agent/bus/network-manager.ts',
    find: '(flags & generated) === 0',
    replace: 'flags < 0',
    tests: ['unit', 'src/agent/bus/network-manager.test.ts'],
  },
  {
    file: 'src/agent/bus/network-manager.ts',
    find: 'has.toLowerCase() === mac ?',
    replace: 'has.toLowerCase() !== name ?',
    tests: ['unit', 'src/agent/bus/network-manager.test.ts'],
  },
  {
    file: 'src/agent/bus/message.ts',
    find: 'if (length > maxLength) throw',
    replace: 'if (length < 0) throw',
    tests: ['unit', 'src/agent/bus/network-manager.test.ts'],
  },
  {
    file: 'src/agent/bus/system-bus.ts',
    find: "socket.on('close', () => this.#end(new Error('the bus has hung up')));",
    replace: '',
    tests: ['unit', 'src/agent/bus/network-manager.test.ts'],
  },
  {
    file: 'src/agent/apply/leased.ts',
    find: '(await keptAfterAll(nic, context)) ??',
    replace: '',
    tests: ['namespaces', 'test/namespaces/leased.test.ts'],
  },
  {
    file: 'src/agent/apply/leased.ts',
    find: 'if (error instanceof DeadlineReached) silence = message;',
    replace: '',
    tests: ['namespaces', 'test/namespaces/leased.test.ts'],
  },
  {
    file: 'src/agent/apply/leased.ts',
    find: 'host: withoutAutomaticProfiles(seen, free)',
    replace: 'host: free.length < 0 ? withoutAutomaticProfiles(seen, free) : seen',
    tests: ['namespaces', 'test/namespaces/leased.test.ts'],
  },
  {
    file: 'src/agent/apply/leased.ts',
    find: 'return nics.filter(({ mac }) => possible.includes(mac));',
    replace: 'return possible.length < 0 ? [] : nics;',
    tests: ['namespaces', 'test/namespaces/leased.test.ts'],
  },
  {
    file: 'src/controller/job.ts',
    find: "systemBus && (sent === 'keyfile' || sent === 'ifcfg')",
    replace: 'systemBus',
    tests: ['unit', 'src/controller/job.test.ts'],
  },
  { ...kernel, find: 'return deletes && goneWords.test', replace: 'return goneWords.test' },
  { ...kernel, find: 'return deletes && goneWords.test(words);', replace: 'return deletes;' },
  { ...kernel, find: '|No such process|', replace: '|' },
  { ...kernel, find: '|Address not found/', replace: '/' },
  { ...settings, find: "before?.addressMode !== 'none' || !before.up", replace: '!before?.up' },
  { ...settings, find: ' || !before.up) return want;', replace: ') return want;' },
  { ...settings, find: 'return alike ?', replace: 'return link ?' },
  { ...state, find: ' || record.boot.addresses.length === 0)', replace: ')' },
  { ...state, find: '    ...(original ? { original } : {}),\n  };', replace: '  };' },
  { ...obsolete, find: ', ...returned(state, host)]', replace: ']' },
  { ...returned, find: '!ours.has(mac) && ', replace: '' },
  { ...returned, find: '[...state.nics, ...returned(state, host)]', replace: 'state.nics' },
  { ...returned, find: 'some(({ name }) => name === interfaceName(index))', replace: 'length > 0' },
  {
    file: 'src/agent/planning/ownership.ts',
    find: '...nic.boot, ...heldOf(nic.mac, nic, host)',
    replace: '...nic.boot',
    tests: unit('planning/ownership'),
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'withHeld(before, host)',
    replace: 'before',
    tests: ['namespaces', 'test/namespaces/detach.test.ts'],
  },
  {
    file: 'src/agent/configure.ts',
    find: 'units.findIndex((unit) => unit.index === index) === at',
    replace: 'at >= 0',
    tests: ['namespaces', 'test/namespaces/detach.test.ts'],
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'nic.mac !== mac && inHand?.has(nic.mac)',
    replace: 'nic.mac !== mac && !inHand',
    tests: unit('planning/plan-removal'),
  },
  {
    file: 'src/agent/configure.ts',
    find: 'withHeld(advanceFence(known, request), host)',
    replace: 'advanceFence(known, request)',
    tests: ['namespaces', 'test/namespaces/detach.test.ts'],
  },
  { ...state, find: 'filter((nic) => nic.bootId === bootId)', replace: 'filter(() => true)' },
  { ...state, find: '.slice(-maxLeft)', replace: '' },
  { ...state, find: 'left: [...others, nic]', replace: 'left: [...(state.left ?? []), nic]' },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'const want = withOthersMode(desiredState(desired), before);',
    replace: 'const want = desiredState(desired);',
    tests: ['namespaces', 'test/namespaces/ipv6.test.ts'],
  },
  {
    file: 'src/agent/backends/keyfile-claims.ts',
    find: ' || (volatile && waits)',
    replace: '',
    tests: unit('backends/keyfile-claims'),
  },
  {
    file: 'src/agent/backends/keyfile-claims.ts',
    find: '(volatile && waits)',
    replace: 'waits',
    tests: unit('backends/keyfile-claims'),
  },
  {
    file: 'src/agent/backends/name-patterns.ts',
    find: 'leavesOut && !enough',
    replace: 'leavesOut',
    tests: unit('backends/name-patterns'),
  },
  {
    file: 'src/agent/observe/family.ts',
    find: 'active.size > 0 && !active',
    replace: '!active',
    tests: unit('observe/family'),
  },
  {
    file: 'src/agent/observe/host.ts',
    find: '!hidden.has(name) && ',
    replace: '',
    tests: unit('observe/files'),
  },
  {
    file: 'src/agent/planning/ownership.ts',
    find: 'family === 4 && !opaque && byHand',
    replace: '!opaque && byHand',
    tests: unit('planning/ownership'),
  },
  {
    file: 'src/agent/planning/nic-state.ts',
    find: ' || protocol === 0 ?',
    replace: ' ?',
    tests: unit('planning/diff'),
  },
  {
    file: 'src/agent/backends/keyfile-document.ts',
    find: "['method=disabled', metricLine]",
    replace: "['method=disabled']",
    tests: unit('backends/keyfile'),
  },
  {
    file: 'src/agent/backends/ifcfg-document.ts',
    find: '    `IPV6_ROUTE_METRIC=${table}`,\n',
    replace: '',
    tests: unit('backends/ifcfg'),
  },
  {
    file: 'src/agent/backends/ifcfg-document.ts',
    find: 'metrics: [said.IPV4_ROUTE_METRIC, said.IPV6_ROUTE_METRIC]',
    replace: 'metrics: [said.IPV4_ROUTE_METRIC, said.IPV4_ROUTE_METRIC]',
    tests: unit('backends/ifcfg'),
  },
  {
    file: 'src/agent/backends/netplan-document.ts',
    find: 'scope === rt.scopeLink || !via ?',
    replace: 'scope === rt.scopeLink ?',
    tests: unit('backends/netplan'),
  },
  {
    file: 'src/agent/backends/netplan-document.ts',
    find: 'scope && familyOf(to) === 4 ?',
    replace: 'scope ?',
    tests: unit('backends/netplan'),
  },
  {
    file: 'src/agent/observe/host.ts',
    find: ', ...(state.left ?? [])];',
    replace: '];',
    tests: contested,
  },
  {
    file: 'src/agent/planning/ownership.ts',
    find: ', ...now.flatMap((nic) => nic.routes ?? [])]',
    replace: ']',
    tests: contested,
  },
  {
    file: 'src/agent/apply/settle.ts',
    find: 'hopeful.length === 0 && !busy',
    replace: 'hopeful.length === 0',
    tests: contested,
  },
  {
    file: 'src/agent/apply/settle.ts',
    find: 'const longPatienceMs = 15_000;',
    replace: 'const longPatienceMs = 150_000;',
    tests: contested,
  },
  {
    file: 'src/agent/observe/family.ts',
    find: " || state === 'configuring';",
    replace: ';',
    tests: contested,
  },
  { ...message, find: '(type !== methodReturn && type !== failure)', replace: 'type === 99' },
  {
    ...message,
    find: 'if (end >= this.#bytes.length) throw',
    replace: 'if (end > this.#bytes.length + 99) throw',
  },
  { ...message, find: "if (type === 'b') return this.#uint32() === 1;", replace: '' },
  { ...message, find: 'head.align(8).byte(code)', replace: 'head.byte(code)' },
  { ...bus, find: '      bus[Symbol.dispose]();\n', replace: '' },
  { ...bus, find: 'if (answer?.to !== serial) continue;', replace: 'if (!answer) continue;' },
  { ...manager, find: '{ variant: false }', replace: '{ variant: true }' },
  { ...manager, find: "if (active === '/') return undefined;", replace: '' },
  {
    ...others,
    find: '[...nics, ...others.filter(({ mac }) => !macs.has(mac))]',
    replace: '[...nics, ...others.filter(() => macs.size >= 0)]',
  },
  { ...others, find: 'kind === undefined && !macs.has(mac)', replace: 'kind === undefined' },
  { ...others, find: 'ours: withThese(inHand, [', replace: 'ours: withThese([], [' },
  {
    file: 'src/agent/apply/links.ts',
    find: 'operations: [down, eviction]',
    replace: 'operations: [eviction]',
    tests: contested,
  },
  {
    file: 'src/agent/apply/links.ts',
    find: 'if (isOfNetworkManager(backend.name)) return true;',
    replace: '',
    tests: contested,
  },
];
