import { findCondition } from '../../api/condition.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { appliedIn } from '../applied.ts';
import type { Contents } from '../request.ts';
import type { Situation } from './situation.ts';

/**
 * The end that the record knows, when the conditions have told of something else since: of another object for the same
 * node, of a node that was not found. Undefined when they tell of that end, or when it was none to rest on.
 */
export function toldAgain(
  status: NodeConfigStatus | undefined,
  { interfaces }: Pick<Contents, 'interfaces'>,
): Situation | undefined {
  const applied = appliedIn(status);
  if (!applied?.done || tellsOfSuccess(status)) return undefined;
  const { job, at, attempt, protocol } = applied;
  const nics = interfaces.map(({ index, mac }) => {
    const word = { state: 'Configured', reason: 'Configured', message: '' } as const;
    return { index, mac, name: '', ...word };
  });
  const about = { protocol, attempt, uid: '', generation: 0, bootId: '' };
  const result = { ...about, outcome: 'ok' as const, nics, warnings: [] };
  return { kind: 'ended', job, at: new Date(at), verdict: { kind: 'result', result } };
}

/** Entries that cannot be used keep an object from being ready, whatever was done. */
function tellsOfSuccess(status: NodeConfigStatus | undefined): boolean {
  const ready = findCondition(status?.conditions ?? [], 'Ready');
  return ready?.status === 'True' || ready?.reason === 'InvalidEntries';
}
