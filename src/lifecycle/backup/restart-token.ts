import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { shortHash } from './names.ts';

/**
 * Returns a token that changes with each successful restore, after which the operator must reload the inventory;
 * undefined: no restore.
 */
export function restartToken({ databaseStatus }: MultiNicOperatorStatus): string | undefined {
  const { request, at, result } = databaseStatus?.lastRestore ?? {};
  return result === 'Succeeded' ? shortHash(request, at) : undefined;
}
