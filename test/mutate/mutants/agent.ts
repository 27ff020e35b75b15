import type { Mutant } from '../mutant.ts';

const agent = ['unit', 'src/agent', 'test/property/agent-plan.test.ts'] as const;
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
];
