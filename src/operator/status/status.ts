import { findCondition, rfc3339 } from '../../api/condition.ts';
import type { HeldNode } from '../../api/node-configs-http.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import { compareText } from '../../plan/view.ts';
import type { SyncResult } from '../sync-result.ts';
import { conditionsOf } from './conditions.ts';
import { downPortRetry, downPortsOf } from './down-ports.ts';
import { troublesOf, type Verdict } from './verdict.ts';
import type { SyncSeen } from './writer.ts';

export interface StatusInput {
  readonly verdict: Verdict;
  /** What the sync saw and did; undefined when it did not come so far, and then the last of it stays. */
  readonly seen: SyncSeen | undefined;
  readonly previous: OpenstackConfigStatus;
  readonly generation: number;
  readonly now: Date;
  /** Values of annotations that were acted upon; undefined = as before. */
  readonly handled: { readonly reconcileAt?: string; readonly allowRemovals?: string };
}

const maxNodes = 20;
const maxError = 4_096;

/** The whole status as it is to be. */
export function statusAfter(input: StatusInput): OpenstackConfigStatus {
  const { verdict, seen, previous, generation, now, handled } = input;
  const conditions = conditionsOf(verdict, previous.conditions ?? [], { now, generation });
  const ready = findCondition(conditions, 'Ready');
  const [trouble] = troublesOf(verdict);
  return defined({
    observedGeneration: generation,
    conditions,
    lastSyncedAt: ready?.status === 'True' ? rfc3339(now) : previous.lastSyncedAt,
    lastError: trouble ? (ready?.message ?? '').slice(0, maxError) : '',
    ...(seen ? seenIn(seen, input) : seenBefore(previous)),
    lastHandledReconcileAt: handled.reconcileAt ?? previous.lastHandledReconcileAt,
    lastHandledAllowRemovals: handled.allowRemovals ?? previous.lastHandledAllowRemovals,
  });
}

function seenIn({ synced, downPortFastRetryMax }: SyncSeen, { previous, now }: StatusInput) {
  const down = downPortsOf(synced.nodes, synced.observation);
  return {
    summary: { ...synced.summary },
    nodes: worstNodes(synced),
    deliveredTo: notEmpty(synced.deliveredTo),
    downPortRetry: downPortRetry(down, previous.downPortRetry, downPortFastRetryMax, now),
  };
}

function seenBefore(previous: OpenstackConfigStatus) {
  const { summary, nodes, deliveredTo, downPortRetry: retry } = previous;
  return { summary, nodes, deliveredTo, downPortRetry: retry };
}

function notEmpty(list: readonly string[]): string[] | undefined {
  return list.length > 0 ? [...list] : undefined;
}

/** A status that says the same but for the time of the sync is written so often. */
const heartbeatMs = 10 * 60_000;

/** Whether a status says anything that the previous one does not. */
export function isNews(status: OpenstackConfigStatus, previous: OpenstackConfigStatus): boolean {
  const { lastSyncedAt, ...now } = status;
  const { lastSyncedAt: before, ...rest } = previous;
  if (canonicalJson(now) !== canonicalJson(rest)) return true;
  if (lastSyncedAt === undefined) return false;
  if (before === undefined) return true;
  // Either way: a clock that was set back must not silence it for as long.
  return Math.abs(Date.parse(lastSyncedAt) - Date.parse(before)) >= heartbeatMs;
}

type NodeStatus = NonNullable<OpenstackConfigStatus['nodes']>[number];

/** The nodes that need attention most: what could not be delivered, then by the state on the node. */
function worstNodes({ nodes, held, delivery, troubles }: SyncResult): NodeStatus[] {
  const byName = new Map(held.map((node) => [node.nodeName, node]));
  const failed = new Set(delivery.failures.map(({ nodeName }) => nodeName));
  const listed = nodes.map(({ nodeName, instanceId, interfaces }) => {
    const trouble = troubles.find((one) => 'subject' in one && one.subject === `node ${nodeName}`);
    const reason = failed.has(nodeName) ? 'ViolaPostError' : trouble?.reason;
    const { state, why } = progressOf(byName.get(nodeName));
    const rank = reason ? 0 : (ranks[state] ?? 1);
    const status = { name: nodeName, instanceId, interfaces: interfaces.length, state };
    return { rank, status: defined({ ...status, reason: reason ?? why }) };
  });
  return listed
    .toSorted((a, b) => a.rank - b.rank || compareText(a.status.name, b.status.name))
    .slice(0, maxNodes)
    .map(({ status }) => status);
}

const ranks: Readonly<Record<string, number>> = {
  Failed: 1,
  Pending: 2,
  InProgress: 3,
  Configured: 4,
};

/** How far the business cluster is with a node. */
function progressOf(node: HeldNode | undefined) {
  const { state = 'Pending', conditions } = node?.status ?? {};
  return { state, why: findCondition(conditions, 'Ready')?.reason };
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Absent instead of undefined: that is what an applied object must look like. */
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as Defined<T>;
}
