import { createHash } from 'node:crypto';
import { rfc3339 } from '../../api/condition.ts';
import type { JobResult } from '../../api/job.ts';
import { annotations } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { Node } from '../../kube/core-resources.ts';
import { type Applied, recordedEvents } from '../jobs/applied.ts';
import type { Failure, NodeEvents, Run, RunOutcome } from '../jobs/runner.ts';
import { machineOf, readySince } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';
import { type Desired, fractionOf } from '../scheduling/schedule.ts';

/** Of a character that is cut in two an API server keeps another one: it would never be what was seen. */
export function nodeEventsOf({ metadata }: NodeConfig, node: Node): NodeEvents {
  return {
    bootId: machineOf(node).bootId,
    readySince: readySince(node),
    checkAsked: metadata.annotations?.[annotations.check]?.slice(0, 64).toWellFormed(),
  };
}

/** What an agent says of a NIC where it could not look: something was in its way, or it was told to stop. */
const unseen: ReadonlySet<Reason> = new Set(['ApplyFailed', 'RolledBack']);

/** What a look has found, or why it came to nothing: though its agent has answered, too. */
export function checkResult(
  verdict: RunOutcome,
): { readonly result: JobResult } | { readonly failure: Failure } {
  if (verdict.kind === 'failure') return { failure: verdict };
  const { result } = verdict;
  const { outcome, nics, warnings } = result;
  if (outcome === 'ok' || nics.some(({ reason }) => !unseen.has(reason))) return { result };
  const message = nics[0]?.message || warnings.join('; ') || `the agent says ${outcome}`;
  return { failure: { reason: 'JobFailed', message } };
}

/** A node is checked at most once in this time, unless it has another boot id or a user asks for it. */
const checkPauseMs = 600_000;

/** How long ago a node was seen as it shall be, and a check of it began, in milliseconds; `Infinity`: none is known of. */
export interface RecordAge {
  readonly ageMs: number;
  readonly intervalMs: number;
  readonly lastCheckMs: number;
}

/** Why a node is compared with what was applied to it. */
export type Due = 'boot' | 'ready' | 'asked' | 'interval';

/**
 * Why the node has to be looked at again; undefined when nothing has happened since it was last seen as it shall be. A record
 * of an earlier version does not say since when its Node was ready: that is no reason.
 */
export function dueOn(applied: Applied, now: NodeEvents, pace: RecordAge): Due | undefined {
  const { ageMs, intervalMs, lastCheckMs } = pace;
  if (hasBooted(applied, now)) return 'boot';
  if (now.checkAsked !== undefined && now.checkAsked !== applied.checkAsked) return 'asked';
  // A kubelet in trouble is not ready and ready again every minute.
  if (wasAway(applied, now) && lastCheckMs >= checkPauseMs) return 'ready';
  return ageMs >= pauseOf(applied, intervalMs) ? 'interval' : undefined;
}

/** Whether the machine was started since it was last looked at; a Node that says less for a while was not. */
export function hasBooted(
  { bootId: then }: Applied,
  { bootId }: Pick<NodeEvents, 'bootId'>,
): boolean {
  return bootId !== undefined && bootId !== then;
}

function wasAway({ readySince: then }: Applied, { readySince: since }: NodeEvents): boolean {
  return then !== undefined && since !== undefined && then !== since;
}

/** Milliseconds until a check may be due, when none is now. */
export function dueIn(applied: Applied, now: NodeEvents, pace: RecordAge): number {
  const byInterval = pauseOf(applied, pace.intervalMs) - pace.ageMs;
  return wasAway(applied, now) ? Math.min(byInterval, checkPauseMs - pace.lastCheckMs) : byInterval;
}

/** Milliseconds from one look to the next: the interval ±20 %, by the name of the Job, so that nodes do not come together. */
export function pauseOf({ job }: Applied, intervalMs: number): number {
  return Math.round(intervalMs * (0.8 + 0.4 * fractionOf(job)));
}

/** When the node was last seen as it shall be, for `RecordAges`. */
export function checkTimesOf({ job, at, checkedAt }: Applied) {
  return { job, at: checkedAt ?? at };
}

/** The record once the node was compared with it. */
export function checkedAs(applied: Applied, occasion: NodeEvents, now: Date): Applied {
  return { ...applied, ...recordedEvents(occasion), checkedAt: rfc3339(now) };
}

/** Runs of one look have one content: another boot, or another wish, is another look. */
export function contentOfCheck(applied: Applied, occasion: NodeEvents): string {
  const { content } = applied;
  const text = canonicalJson({
    content,
    since: checkTimesOf(applied).at,
    ...recordedEvents(occasion),
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The last run of this look that has ended. */
export function lastCheck(
  runs: readonly Run[],
  { action, content }: Pick<Desired, 'action' | 'content'>,
): Run | undefined {
  return runs
    .filter((run) => run.action === action && run.content === content && run.phase === 'ended')
    .toSorted((a, b) => a.attempt - b.attempt)
    .at(-1);
}
