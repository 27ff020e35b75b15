import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';

/** Returns a value that changes with each successful restore, by which the operator restarts; undefined: none yet. */
export function restartToken({ databaseStatus }: MultiNicOperatorStatus): string | undefined {
  const { lastRestore } = databaseStatus ?? {};
  return lastRestore?.result === 'Succeeded' ? lastRestore.at : undefined;
}
