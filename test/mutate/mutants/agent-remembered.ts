import type { Mutant } from '../mutant.ts';

const removal = ['unit', 'src/agent/planning/plan-removal.test.ts'] as const;
const contested = ['unit', 'test/property/agent-contested.test.ts'] as const;
const tests = ['unit', 'test/property/agent-remembered.test.ts'] as const;
const remembered = { file: 'src/agent/planning/remembered.ts', tests };
const ownership = { file: 'src/agent/planning/ownership.ts', tests };
const foreign = { file: 'src/agent/planning/foreign.ts', tests };
const entrusted = ['unit', 'src/agent/planning/foreign.test.ts'] as const;
const recover = { file: 'src/agent/apply/recover.ts', tests };
const settle = { file: 'src/agent/apply/settle.ts', tests };

/** Rules that NetworkManager sets again: of NICs and addresses that have left, and never of those that have their number by now. */
export const agentRememberedMutants: readonly Mutant[] = [
  {
    ...remembered,
    find: '[...present, ...gone]',
    replace: '[...present]',
    tests: contested,
  },
  { ...remembered, find: '[...present, ...gone]', replace: '[...gone]', tests: contested },
  { ...remembered, find: '!inHand.has(nic.mac)', replace: 'true' },
  {
    ...remembered,
    find: '[...state.nics, ...units.reduce(stateAfter, state).nics, ...claims]',
    replace: 'units.reduce(stateAfter, state).nics',
  },
  {
    ...remembered,
    find: 'nics, ...claims]',
    replace: 'nics]',
  },
  {
    ...remembered,
    find: '...units.reduce(stateAfter, state).nics, ...claims]',
    replace: '...claims]',
  },
  { ...remembered, find: 'gone.delete(mac);', replace: '' },
  { ...remembered, find: 'besideOthers(mac, former, ours)', replace: 'former' },
  {
    ...remembered,
    find: 'ownedBy(mac, record, host, nics)',
    replace: 'ownedBy(mac, record, host)',
  },
  { file: 'src/agent/state.ts', find: '|| each.index !== nic.index', replace: '', tests },
  { ...ownership, find: '!except.includes(ruleKey(ip, table))', replace: 'true' },
  {
    file: 'src/agent/planning/candidates.ts',
    find: '[...state.nics, ...accepted.map(({ desired }) => desired)]',
    replace: 'state.nics',
    tests,
  },
  {
    file: 'src/agent/planning/candidates.ts',
    find: '[...state.nics, ...accepted.map(({ desired }) => desired)]',
    replace: 'accepted.map(({ desired }) => desired)',
    tests,
  },
  {
    file: 'src/agent/planning/obsolete.ts',
    find: 'ownedBy(mac, record, host, state.nics)',
    replace: 'ownedBy(mac, record, host)',
    tests,
  },
  {
    file: 'src/agent/planning/obsolete.ts',
    find: '!macs.has(nic.mac)',
    replace: 'true',
    tests: removal,
  },
  {
    file: 'src/agent/planning/obsolete.ts',
    find: '!macs.has(nic.mac)',
    replace: 'isUnwanted(nic)',
    tests,
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'if (nic.rulesOnly) return inHand?.get(nic.mac);',
    replace: '',
    tests: removal,
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'if (nic.rulesOnly) return inHand?.get(nic.mac);',
    replace: 'if (nic.rulesOnly) return undefined;',
    tests: removal,
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: 'nic.rulesOnly ? { ...host, files: [] } : host',
    replace: 'host',
    tests: removal,
  },
  { ...foreign, find: 'nics.filter(({ rulesOnly }) => !rulesOnly)', replace: 'nics' },
  {
    ...foreign,
    find: 'if (nic.rulesOnly) return { addresses: [], routes: [] };',
    replace: '',
    tests: entrusted,
  },
  {
    file: 'src/agent/apply/foreign.ts',
    find: '...recorded, ...departed(state, host)',
    replace: '...recorded',
    tests,
  },
  {
    file: 'src/agent/apply/memory.ts',
    find: 'rulesOnly: z.literal(true).exactOptional(),',
    replace: '',
    tests,
  },
  {
    file: 'src/agent/apply/memory.ts',
    find: 'except: z.array(z.string()).exactOptional(),',
    replace: '',
    tests,
  },
  { ...recover, find: 'entry.rulesOnly ? ridOfRules : broughtToEnd', replace: 'broughtToEnd' },
  {
    ...recover,
    find: 'bootId === context.run.bootId ? await bringNic(entry, after, context) : undefined',
    replace: 'await bringNic(entry, after, context)',
  },
  { ...recover, find: 'if (!entry.rulesOnly) claims', replace: 'claims' },
  { ...settle, find: 'if (nic.rulesOnly) return', replace: 'if (false) return', tests: contested },
  { ...settle, find: '(this.#made.get(goal) ?? 0) < maxChanges', replace: 'this.#made.size < 2' },
  {
    ...settle,
    find: 'others.every(({ nic }) => nic.rulesOnly)',
    replace: 'others.length === 0',
  },
  {
    file: 'src/agent/configure.ts',
    find: 'left: hostAfterRemoval(host, plan.removal.units) }',
    replace: 'left: host }',
    tests,
  },
  {
    file: 'src/agent/configure.ts',
    find: 'planAnew({ ...now, state: claimed(removed.state) }, context)',
    replace: 'planAnew(now, context)',
    tests: ['unit', 'test/property/agent-answer.test.ts'],
  },
  {
    file: 'src/agent/configure.ts',
    find: 'planApply({ ...input, host: left }), left }',
    replace: 'planApply(input), left }',
    tests: ['unit', 'test/property/agent-answer.test.ts'],
  },
  {
    file: 'src/agent/configure.ts',
    find: 'planApply({ ...input, host: left }), left }',
    replace: 'planApply({ ...input, host: left }), left: input.host }',
    tests,
  },
  {
    file: 'src/agent/configure.ts',
    find: 'inRounds(others, first.state, host, context)',
    replace: 'inRounds(others, known, host, context)',
    tests: ['unit', 'test/property/agent-heir.test.ts'],
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: 'before: context.start ?? before,',
    replace: 'before,',
    tests: ['unit', 'test/property/agent-answer.test.ts'],
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: '    await restoreAll(step, disk);\n    await syncDirectories(step, disk);',
    replace: '    await restoreAll(step, disk);',
    tests: ['unit', 'src/agent/apply/power-cut.test.ts'],
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: '.filter(({ changed }) => changed);',
    replace: ';',
    tests: removal,
  },
];
