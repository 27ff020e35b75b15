import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { shortHash } from './names.ts';

/** Changes with each successful restore, after which the operator must read the inventory again; undefined: there was none. */
export function restartToken({ databaseStatus }: MultiNicOperatorStatus): string | undefined {
  const { request, at, result } = databaseStatus?.lastRestore ?? {};
  return result === 'Succeeded' ? shortHash(request, at) : undefined;
}
