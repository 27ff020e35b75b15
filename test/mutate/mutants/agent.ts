import type { Mutant } from '../mutant.ts';

const agent = ['unit', 'src/agent', 'test/property/agent-plan.test.ts'] as const;
const steps = ['unit', 'test/property/agent-run.test.ts'] as const;
const pure = (...files: string[]) => ['unit', ...files.map((name) => `src/agent/${name}`)] as const;
const onHost = (...files: string[]) =>
  ['namespaces', ...files.map((name) => `test/namespaces/${name}`)] as const;

export const agentMutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/refuse/node.ts',
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
    file: 'src/agent/planning/refuse/checks.ts',
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
    find: 'problem ? withNic(after, halfDone(entry, after, recovered)) : after',
    replace: 'after',
    tests: steps,
  },
  {
    file: 'src/agent/apply/undoable-work.ts',
    find: 'if (!problem) await removeJournal',
    replace: 'await removeJournal',
    tests: steps,
  },
  {
    file: 'src/agent/apply/transaction.ts',
    find: "await work.each('PersistFailed', (unit) => writeJournal(unit, run, disk));",
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
    file: 'src/agent/planning/refuse/subnet.ts',
    find: 'isMainRoute(route) && !route.links',
    replace: 'isMainRoute(route) && route.protocol === rt.protocolKernel && !route.links',
    tests: pure('planning/refuse/checks.test.ts'),
  },
  {
    file: 'src/agent/planning/refuse/checks.ts',
    find: '  overlapsForeign,\n  pathTaken,',
    replace: '  pathTaken,',
    tests: pure('planning/refuse/checks.test.ts'),
  },
  {
    file: 'src/agent/ip-session.ts',
    find: 'interrupted.test(this.#complaints) ? undefined : parseKernelState(answers)',
    replace: 'parseKernelState(answers)',
    tests: pure('ip-session.test.ts'),
  },
  {
    file: 'src/agent/state.ts',
    find: 'a.uid === b?.uid && a.generation === b.generation',
    replace: 'a.uid === b?.uid',
    tests: pure('state.test.ts'),
  },
];
