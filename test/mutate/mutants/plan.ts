import type { Mutant } from '../mutant.ts';

const plan = ['unit', 'src/plan', 'test/property/plan.test.ts'] as const;

export const planMutants: readonly Mutant[] = [
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
    find: 'open.find((index) => !leaving.has(index))',
    replace: 'open[0]',
    tests: plan,
  },
  {
    file: 'src/plan/baseline.ts',
    find: 'created >= limit',
    replace: 'created > limit',
    tests: plan,
  },
];
