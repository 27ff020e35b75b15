import type { Mutant } from '../mutant.ts';

const pure = (...files: string[]) => ['unit', ...files.map((name) => `src/agent/${name}`)] as const;
const plans = ['unit', 'test/property/agent-plan.test.ts'] as const;
const onHost = ['namespaces', 'test/namespaces/routing.test.ts'] as const;

export const agentRoutingMutants: readonly Mutant[] = [
  {
    file: 'src/agent/planning/ownership.ts',
    find: ' || routes.includes(routeKey(route))',
    replace: '',
    tests: plans,
  },
  {
    file: 'src/agent/planning/ownership.ts',
    find: '...(before.routes ?? [])].map(routeKey)',
    replace: '].map(routeKey)',
    tests: pure('planning/ownership.test.ts'),
  },
  {
    file: 'src/agent/state.ts',
    find: 'return { addresses, ...(routes ? { routes } : {}) };',
    replace: 'return { addresses };',
    tests: pure('state.test.ts'),
  },
  {
    file: 'src/agent/planning/plan.ts',
    find: '    ...(shared.length > 0 ? { routes: shared } : {}),\n',
    replace: '',
    tests: plans,
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'distinct(askedRoutes(entry, rt.mainTable, table))',
    replace: 'distinct(askedRoutes(entry, table, table))',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'distinct(askedRoutes(entry, rt.mainTable, table))',
    replace: 'distinct(askedRoutes(entry, rt.mainTable, 0))',
    tests: pure('planning/desired.test.ts'),
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: 'return [...desired.addresses, ...sharedRoutes(desired).map(({ to }) => to)];',
    replace: 'return [...desired.addresses];',
    tests: onHost,
  },
  {
    file: 'src/agent/planning/attainable.ts',
    find: ' || shared.has(routeKey(item))',
    replace: '',
    tests: pure('planning/plan-apply.test.ts'),
  },
  {
    file: 'src/agent/planning/candidates.ts',
    find: "routing === 'main' ? routes.find(",
    replace: "routing === 'pbr' ? routes.find(",
    tests: pure('planning/entry.test.ts'),
  },
  {
    file: 'src/agent/planning/candidates.ts',
    find: '    .filter(({ metric }) => metric !== undefined)\n',
    replace: '',
    tests: pure('planning/entry.test.ts'),
  },
  {
    file: 'src/agent/apply/memory.ts',
    find: 'routes: z.array(z.string()).default([]),',
    replace: 'routes: z.array(z.string()),',
    tests: pure('apply/journal.test.ts'),
  },
];
