import type { Mutant } from './mutant.ts';

const kube = (...files: string[]) => ['unit', ...files.map((name) => `src/kube/${name}`)] as const;
const plan = ['unit', 'src/plan', 'test/property/plan.test.ts'] as const;
const agent = ['unit', 'src/agent', 'test/property/agent-plan.test.ts'] as const;
const onHost = (...files: string[]) =>
  ['namespaces', ...files.map((name) => `test/namespaces/${name}`)] as const;

/** Defects that have happened in systems like ours, each in one line. */
export const mutants: readonly Mutant[] = [
  {
    file: 'src/kube/cache/reflector-state.ts',
    find: 'return resourceVersion === undefined || isGone(error) || doubted',
    replace: 'return resourceVersion === undefined || doubted',
    tests: kube('cache/reflector-state.test.ts', 'cache/reflector.test.ts'),
  },
  {
    file: 'src/kube/cache/reflector.ts',
    find: 'if (!isNewer(version, reached)) return reached;',
    replace: '',
    tests: kube('cache/reflector-faults.test.ts', 'cache/reflector.property.test.ts'),
  },
  {
    file: 'src/kube/reconcile/queue.ts',
    find: 'if (this.#again.delete(key) && !this.#closed) this.#makeReady(key);',
    replace: 'this.#again.delete(key);',
    tests: kube('reconcile/queue.test.ts', 'reconcile/queue.property.test.ts'),
  },
  {
    file: 'src/plan/removal.ts',
    find: "return verdict !== undefined && verdict !== 'stillAttached' && verdict !== 'unconfirmed';",
    replace: "return verdict !== undefined && verdict !== 'stillAttached';",
    tests: plan,
  },
  {
    file: 'src/plan/removal.ts',
    find: 'if (port === undefined) return fateOfMissing(spec, place, view);',
    replace: "if (port === undefined) return leave(spec, 'notSelected', true, view);",
    tests: plan,
  },
  {
    file: 'src/plan/free-names.ts',
    find: 'free.find((index) => !leaving.has(index))',
    replace: 'free[0]',
    tests: plan,
  },
  {
    file: 'src/plan/baseline.ts',
    find: 'created >= limit',
    replace: 'created > limit',
    tests: plan,
  },
  {
    file: 'src/agent/planning/refuse.ts',
    find: 'isDefault(item, link) && item.table !== record?.table',
    replace: 'isDefault(item, link) && item.table === record?.table',
    tests: onHost('refusals.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'from: `${ipOf(cidr)}/32`,',
    replace: 'from: networkOf(cidr),',
    tests: onHost('attach.test.ts'),
  },
  {
    file: 'src/agent/planning/refuse.ts',
    find: "if (route) return refusal('TableInUse', `table ${table} has a route to ${route.to}`);",
    replace: '',
    tests: onHost('refusals.test.ts'),
  },
  {
    file: 'src/agent/planning/desired.ts',
    find: 'priority: rulePriority(index),',
    replace: 'priority: rulePriority(0),',
    tests: [...agent, 'src/agent'],
  },
];
