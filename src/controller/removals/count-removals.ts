import type { Budget, BudgetCount } from './budget.ts';
import type { RemovalLedger } from './ledger.ts';

/** Returns the cluster's budget use, as far as the removals of the last hour are known. */
export type CountRemovals = (signal: AbortSignal) => Promise<BudgetCount>;

export function createCountRemovals(
  budget: Pick<Budget, 'clusterUse'>,
  ledger: Pick<RemovalLedger, 'read'>,
): CountRemovals {
  return async (signal) => {
    const recorded = await ledger.read(signal);
    if (recorded.kind === 'unknown') return recorded;
    return {
      kind: 'counted',
      usesWith: (planned) => budget.clusterUse(recorded.entries, planned),
    };
  };
}
