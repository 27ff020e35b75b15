import { findCondition } from '../../api/condition.ts';
import type { JobResult } from '../../api/job.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { AcceptedSpec, Entry } from '../accept.ts';
import { appliedIn } from '../applied.ts';
import { readyIn } from './ready.ts';
import type { Situation } from './situation.ts';

/**
 * The end that the record knows, when the conditions have told of something else since: of another object for the same
 * node, of a node that was not found, of entries that are right by now. Undefined when they tell of that end, or when it
 * was none to rest on.
 */
export function toldAgain(
  status: NodeConfigStatus | undefined,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
): Situation | undefined {
  const applied = appliedIn(status);
  if (!applied?.done || applied.action !== 'apply') return undefined;
  const { job, at, attempt, protocol } = applied;
  const about = { protocol, attempt, uid: '', generation: 0, bootId: '' };
  const result: JobResult = { ...about, outcome: 'ok', nics: nicsOf(entries), warnings: [] };
  const end = {
    kind: 'ended',
    job,
    at: new Date(at),
    verdict: { kind: 'result', result },
  } as const;
  return isTold(status, end, entries) ? undefined : end;
}

function nicsOf(entries: readonly Entry[]): JobResult['nics'] {
  return entries.flatMap(({ mac, index, rejection }) => {
    if (mac === undefined || index === undefined || rejection !== undefined) return [];
    return [{ index, mac, name: '', state: 'Configured', reason: 'Configured', message: '' }];
  });
}

/** The message of a success may have more to it: what the agent warned of. */
function isTold(
  status: NodeConfigStatus | undefined,
  end: Situation,
  entries: readonly Entry[],
): boolean {
  const told = findCondition(status?.conditions ?? [], 'Ready');
  const ready = readyIn(end, entries);
  if (told?.status !== ready.status || told.reason !== ready.reason) return false;
  return ready.status === 'True' || ready.message.startsWith(told.message ?? '');
}
