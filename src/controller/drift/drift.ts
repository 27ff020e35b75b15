import { hash } from 'node:crypto';
import { rfc3339 } from '../../api/condition.ts';
import type { JobResult } from '../../api/job.ts';
import type { Reason } from '../../api/reasons.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import { type Applied, recordedEvents } from '../jobs/applied.ts';
import type { Failure, NodeEvents, Run, RunOutcome } from '../jobs/runner.ts';
import { type Desired, fractionOf } from '../scheduling/schedule.ts';

/** NIC reasons of an agent that could not inspect the NIC: an error, or a stop signal. */
const notInspected: ReadonlySet<Reason> = new Set(['ApplyFailed', 'RolledBack']);

/** Returns a check's result, or its failure. An agent result counts as a failure if no NIC was inspected. */
export function checkResult(
  verdict: RunOutcome,
): { readonly result: JobResult } | { readonly failure: Failure } {
  if (verdict.kind === 'failure') return { failure: verdict };
  const { result } = verdict;
  const { outcome, nics, warnings } = result;
  if (outcome === 'ok' || nics.some(({ reason }) => !notInspected.has(reason))) return { result };
  const message =
    nics[0]?.message || warnings.join('; ') || `the agent reported outcome "${outcome}"`;
  return { failure: { reason: 'JobFailed', message } };
}

/** Minimum milliseconds between two checks of a node, except for a new boot id or a user's request. */
const checkPauseMs = 600_000;

/** Milliseconds since the node was last confirmed as applied, and since the last check started; `Infinity`: unknown. */
interface RecordAge {
  readonly ageMs: number;
  readonly intervalMs: number;
  readonly lastCheckMs: number;
}

/** Reason for a check; `contents`: not compared yet in mode Observe. */
export type Due = 'contents' | 'boot' | 'ready' | 'asked' | 'interval';

/**
 * Returns why a check is due; undefined: no event since the last confirmation. A record from an earlier version lacks
 * the Ready transition time, which is no reason for a check.
 */
export function dueOn(applied: Applied, now: NodeEvents, age: RecordAge): Due | undefined {
  const { ageMs, intervalMs, lastCheckMs } = age;
  if (hasBooted(applied, now)) return 'boot';
  if (isNew(now.checkAsked, applied.checkAsked) || isHealAsked(applied, now)) return 'asked';
  // A kubelet in trouble toggles Ready every minute.
  if (wasAway(applied, now) && lastCheckMs >= checkPauseMs) return 'ready';
  return ageMs >= pauseOf(applied, intervalMs) ? 'interval' : undefined;
}

/** True if a user requested healing with this check. */
export function isHealAsked({ healAsked: then }: Applied, { healAsked }: NodeEvents): boolean {
  return isNew(healAsked, then);
}

function isNew(value: string | undefined, handled: string | undefined): boolean {
  return value !== undefined && value !== handled;
}

/** True if the machine rebooted since the last check; a missing boot id does not count. */
export function hasBooted(
  { bootId: then }: Applied,
  { bootId }: Pick<NodeEvents, 'bootId'>,
): boolean {
  return bootId !== undefined && bootId !== then;
}

function wasAway({ readySince: then }: Applied, { readySince: since }: NodeEvents): boolean {
  return then !== undefined && since !== undefined && then !== since;
}

/** Returns milliseconds until the next check may be due, when none is due now. */
export function dueIn(applied: Applied, now: NodeEvents, age: RecordAge): number {
  const byInterval = pauseOf(applied, age.intervalMs) - age.ageMs;
  return wasAway(applied, now) ? Math.min(byInterval, checkPauseMs - age.lastCheckMs) : byInterval;
}

/** Returns the check interval ±20 %, derived from the Job name to spread nodes over time. */
export function pauseOf({ job }: Applied, intervalMs: number): number {
  return Math.round(intervalMs * (0.8 + 0.4 * fractionOf(job)));
}

/** Returns the time of the last confirmation, for `RecordAges`. */
export function checkTimesOf({ job, at, checkedAt }: Applied) {
  return { job, at: checkedAt ?? at };
}

/** Returns the record after a successful check. */
export function checkedAs(applied: Applied, occasion: NodeEvents, now: Date): Applied {
  return { ...applied, ...recordedEvents(occasion), checkedAt: rfc3339(now) };
}

/** True if the record has these events already. */
export function hasEvents(applied: Applied, occasion: NodeEvents): boolean {
  const events = Object.entries(recordedEvents(occasion));
  return events.every(([name, value]) => applied[name as keyof Applied] === value);
}

/**
 * Returns a hash identifying one check: a new boot or a new request makes a new check. `since`: time of the last check;
 * undefined: as recorded.
 */
export function contentOfCheck(
  applied: Applied,
  occasion: NodeEvents,
  since?: Date,
  content = applied.content,
): string {
  const text = canonicalJson({
    content,
    since: since ? rfc3339(since) : checkTimesOf(applied).at,
    ...recordedEvents(occasion),
  });
  return hash('sha256', text).slice(0, 32);
}

/** Returns the last finished run for this check. */
export function lastCheck(
  runs: readonly Run[],
  { action, content }: Pick<Desired, 'action' | 'content'>,
): Run | undefined {
  return runs
    .filter((run) => run.action === action && run.content === content && run.phase === 'ended')
    .toSorted((a, b) => a.attempt - b.attempt)
    .at(-1);
}
