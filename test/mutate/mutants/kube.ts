import type { Mutant } from '../mutant.ts';

const kube = (...files: string[]) => ['unit', ...files.map((name) => `src/kube/${name}`)] as const;

export const kubeMutants: readonly Mutant[] = [
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
];
