import type { Mutant } from '../mutant.ts';

const agent = ['unit', 'src/agent', 'test/property/agent-plan.test.ts'] as const;
const steps = ['unit', 'test/property/agent-run.test.ts'] as const;
const answers = ['unit', 'test/property/agent-answer.test.ts'] as const;
const pure = (...files: string[]) => ['unit', ...files.map((name) => `src/agent/${name}`)] as const;
const onHost = (...files: string[]) =>
  ['namespaces', ...files.map((name) => `test/namespaces/${name}`)] as const;

export const agentMutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/refusals.ts',
    find: '!owned.tables.includes(item.table)',
    replace: 'owned.tables.includes(item.table)',
    tests: onHost('refusals.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'from: `${ipOf(cidr)}/32`,',
    replace: 'from: networkOf(cidr),',
    tests: onHost('attach.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'priority: rulePriority(index),\n      protocol: rt.protocolKernel,',
    replace: 'priority: rulePriority(index),\n      protocol: rt.protocolStatic,',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/nic-state.ts',
    find: 'protocol === rt.protocolKernel ? rt.protocolStatic : protocol',
    replace: 'protocol',
    tests: pure('planning/diff.test.ts'),
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: '  tableTaken,\n  priorityTaken,',
    replace: '  priorityTaken,',
    tests: onHost('refusals.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'priority: rulePriority(index),',
    replace: 'priority: rulePriority(0),',
    tests: [...agent, 'src/agent'],
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: 'altNames.includes(to)',
    replace: 'altNames.length > 9',
    tests: pure('planning/diff.test.ts'),
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: 'if (want.mtu < minIpv6Mtu)',
    replace: 'if (want.mtu < 68)',
    tests: pure('planning/diff.test.ts'),
  },
  {
    file: 'src/agent/planning/diff.ts',
    find: ' && !replaced.has(routeKey(route))',
    replace: ' && false',
    tests: pure('planning/diff.test.ts'),
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'return refusal?.message ?? bringNic(',
    replace: 'return bringNic(',
    tests: steps,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'if (rebooted && !committed) return undefined;',
    replace: '',
    tests: steps,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'problem ? withNic(after, halfDone(entry, after, state)) : after',
    replace: 'after',
    tests: steps,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: 'if (!problem) await removeJournal',
    replace: 'await removeJournal',
    tests: steps,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: "await work.each('PersistFailed', (unit) => writeJournal(unit, context));",
    replace: '',
    tests: steps,
  },
  {
    file: 'src/agent/planning/ownership.ts',
    find: 'const byHand = protocol === 0 || protocol === rt.protocolBoot;',
    replace: 'const byHand = protocol >= 0;',
    tests: pure('planning'),
  },
  {
    file: 'src/agent/planning/ownership.ts',
    find: '...(record?.boot?.addresses ?? [])',
    replace: '',
    tests: pure('planning/ownership.test.ts'),
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: 'isMainRoute(route) && !route.links',
    replace: 'isMainRoute(route) && route.protocol === rt.protocolKernel && !route.links',
    tests: pure('planning/refusals.test.ts'),
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: '  overlapsForeign,\n  pathTaken,',
    replace: '  pathTaken,',
    tests: pure('planning/refusals.test.ts'),
  },
  {
    file: 'src/agent/ip-session.ts',
    find: 'interrupted.test(this.#complaints) ? undefined : parseKernelDump(answers)',
    replace: 'parseKernelDump(answers)',
    tests: pure('ip-session.test.ts'),
  },
  {
    file: 'src/agent/state.ts',
    find: 'a.uid === b?.uid && a.generation === b.generation',
    replace: 'a.uid === b?.uid',
    tests: pure('state.test.ts'),
  },
  {
    file: 'src/agent/agent.ts',
    find: 'if (stale) return',
    replace: 'if (stale && false) return',
    tests: answers,
  },
  {
    file: 'src/agent/agent.ts',
    find: 'own === machineId) return undefined;',
    replace: 'own !== machineId) return undefined;',
    tests: answers,
  },
  {
    file: 'src/agent/agent.ts',
    find: 'const apply = asPlanned',
    replace: 'const apply = true',
    tests: answers,
  },
  {
    file: 'src/agent/agent.ts',
    find: 'if (known.nics.length === 0 && !asked)',
    replace: 'if (!asked)',
    tests: answers,
  },
  {
    file: 'src/agent/agent.ts',
    find: 'return { nics: unsaved, warnings, ...memory, failed: true };',
    replace: 'return { nics, warnings, ...memory };',
    tests: answers,
  },
  {
    file: 'src/agent/agent.ts',
    find: 'if (error === deps.signal.reason)',
    replace: 'if (deps.signal.aborted)',
    tests: answers,
  },
  {
    file: 'src/agent/lock.ts',
    find: 'await clock.sleep(pauseMs, signal);',
    replace: 'await clock.sleep(pauseMs);',
    tests: pure('lock.test.ts'),
  },
  {
    file: 'src/agent/lock.ts',
    find: "openSync(path, 'a', 0o600)",
    replace: "openSync(path, 'a', 0o644)",
    tests: pure('lock.test.ts'),
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: '  await syncPath(growing);\n',
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: '  await syncStaged(files, context);\n',
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: "  await work.together('PersistFailed', () => syncJournals(context));\n",
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: 'if (desired && text !== undefined) context.backend.validate(text, desired);',
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: 'contested: work.going.some(isContested),',
    replace: '',
    tests: answers,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: 'renamedFrom: context.udev ? renamed : [],',
    replace: 'renamedFrom: [],',
    tests: answers,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: 'if (alarm) throw',
    replace: 'if (alarm && false) throw',
    tests: answers,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'const next = atBoot(seen(known, entry), context.run.bootId);',
    replace: 'const next = seen(known, entry);',
    tests: steps,
  },
  {
    file: 'src/agent/apply/recover.ts',
    find: 'if ((rebooted || refusal) && isGivenAway(entry, committed, seenNow)) return undefined;',
    replace: '',
    tests: steps,
  },
  {
    file: 'src/agent/apply/disk.ts',
    find: 'const ours = text === change.after || text === null;',
    replace: 'const ours = true;',
    tests: pure('apply/disk.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan.ts',
    find: 'if (match.macaddress) return [];',
    replace: '',
    tests: pure('backends/netplan.test.ts'),
  },
  {
    file: 'src/agent/backends/netplan.ts',
    find: "match.name ?? '*'",
    replace: 'match.name ?? []',
    tests: pure('backends/netplan.test.ts'),
  },
  {
    file: 'src/agent/planning/ownership.ts',
    find: 'const held = host.held.filter((file) => file.mac === mac);',
    replace: 'const held = host.held;',
    tests: pure('planning/ownership.test.ts'),
  },
];
