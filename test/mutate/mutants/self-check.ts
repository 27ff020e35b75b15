import type { Mutant } from '../mutant.ts';

const own = ['unit', 'src/self-check/self-check.test.ts'] as const;

export const selfCheckMutants: readonly Mutant[] = [
  {
    file: 'src/self-check/ask.ts',
    find: "if (answer !== 'undecided') allowed.set",
    replace: 'allowed.set',
    tests: own,
  },
  {
    file: 'src/self-check/ask.ts',
    find: 'if (silence) return;',
    replace: '',
    tests: own,
  },
  {
    file: 'src/self-check/known-rights.ts',
    find: 'this.#allowed.get(keyOfAction(action)) === false',
    replace: '!this.#allowed.get(keyOfAction(action))',
    tests: own,
  },
  {
    file: 'src/self-check/definition.ts',
    find: 'if (behind < 0) {',
    replace: 'if (behind > 0) {',
    tests: own,
  },
  {
    file: 'src/self-check/self-check.ts',
    find: 'jittered(soon ? hurriedMs : usualMs, random)',
    replace: 'jittered(usualMs, random)',
    tests: own,
  },
  {
    file: 'src/self-check/missing-right.ts',
    find: '? `, resourceNames: [${names.join',
    replace: '? `, names: [${names.join',
    tests: own,
  },
  {
    file: 'src/kube/rights.ts',
    find: '(right.names ?? [undefined])',
    replace: '[right.names?.[0]]',
    tests: ['unit', 'src/operator/rights.test.ts'],
  },
  {
    file: 'src/kube/client/reviews.ts',
    find: "status.evaluationError === '' ? 'no' : 'undecided'",
    replace: "'no'",
    tests: ['unit', 'src/kube/client/reviews.test.ts'],
  },
  {
    file: 'src/viola/cluster-rights.ts',
    find: 'if (known?.cluster === cluster) return known;',
    replace: 'if (known) return known;',
    tests: ['unit', 'src/viola/cluster-rights.test.ts'],
  },
];
