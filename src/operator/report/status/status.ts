import { createHash } from 'node:crypto';
import { findCondition, rfc3339, shortMessage } from '../../../api/condition.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import { isSameJson } from '../../../api/same-json.ts';
import type { Observation } from '../../../plan/observation.ts';
import type { NodePlan } from '../../../plan/plan.ts';
import { compareText } from '../../../plan/view.ts';
import { isSynced } from '../../model/ready.ts';
import type { StatusProblem } from '../../model/step-failure.ts';
import { type WaitingNics, waitingAfter } from '../../removals/held-set.ts';
import { recordsOf, recordsWithin } from '../../removals/records.ts';
import type { ReportedSync, SyncResult } from '../result.ts';
import { conditionsOf, type Ending, type OptionalCondition, problemsOf } from './conditions.ts';
import { nicsOf } from './configured-nics.ts';
import { undelivered } from './undelivered.ts';
import { unusedPortsShown } from './unused-ports.ts';

/** Annotation values that a sync has handled, and an approval that is still open. */
export interface Handled {
  readonly reconcileAt?: string;
  readonly allowRemovals?: string;
  readonly openAllowRemovals?: OpenstackConfigStatus['openAllowRemovals'];
  /** NICs waiting for consent; undefined: unchanged. */
  readonly held?: WaitingNics | undefined;
}

export interface StatusInput {
  readonly ending: Ending;
  readonly notifications?: OptionalCondition;
  /** The sync's result; undefined if the sync did not complete: previous fields stay. */
  readonly completed: ReportedSync | undefined;
  readonly previous: OpenstackConfigStatus;
  readonly generation: number;
  readonly now: Date;
  /** Handled annotation values; undefined: unchanged. */
  readonly handled: Handled;
}

const maxNodes = 20;

/** Returns the desired status after an attempt; `withEvidence` adds the evidence. */
export function statusAfter(input: StatusInput): OpenstackConfigStatus {
  const { ending, notifications, completed, previous, generation, now, handled } = input;
  const { lastSyncedAt } = previous;
  const found = { ending, notifications, lastSyncedAt, ...foundOf(completed) };
  const conditions = conditionsOf(found, previous.conditions ?? [], { now, generation });
  const ready = findCondition(conditions, 'Ready');
  const [problem] = problemsOf(ending);
  return defined({
    observedGeneration: generation,
    conditions,
    lastSyncedAt: isSynced(ready) ? rfc3339(now) : lastSyncedAt,
    lastError: problem ? (ready?.message ?? '') : '',
    ...(completed ? fieldsOf(completed, input) : previousFields(previous)),
    lastHandledReconcileAt: handled.reconcileAt ?? previous.lastHandledReconcileAt,
    lastHandledAllowRemovals: handled.allowRemovals ?? previous.lastHandledAllowRemovals,
    lastHandledCheckNodes: previous.lastHandledCheckNodes,
    openAllowRemovals: handled.openAllowRemovals,
    heldRemovals: heldAfter(input),
    withdrawal: previous.withdrawal,
    removals: recentRemovals(previous, now),
  });
}

function foundOf(completed: ReportedSync | undefined) {
  if (completed === undefined) return {};
  const { synced } = completed;
  return { ports: synced.ports, late: undelivered(synced) };
}

function fieldsOf({ synced, downPortFastRetryMax }: ReportedSync, { previous, now }: StatusInput) {
  const { configured, planned } = nicsOf(synced);
  const down = downPortsOf(synced.nodes, synced.observation);
  return {
    summary: { ...synced.summary, nics: `${configured ?? '?'}/${planned}` },
    nodes: worstNodes(synced),
    unusedPorts: unusedPortsShown(synced.ports),
    deliveredTo: listOf(synced.deliveredTo),
    downPortRetry: downPortRetry(down, previous.downPortRetry, downPortFastRetryMax, now),
  };
}

function previousFields(previous: OpenstackConfigStatus) {
  const { summary, nodes, unusedPorts, deliveredTo, downPortRetry: retry } = previous;
  return { summary, nodes, unusedPorts, deliveredTo, downPortRetry: retry };
}

/** Returns the NICs waiting for consent; undefined: none. */
function heldAfter({ previous, handled, generation, now }: StatusInput) {
  const { heldRemovals: before } = previous;
  return handled.held ? waitingAfter(before, handled.held, { generation, now }) : before;
}

/** Returns the records of the last hour; undefined: none. */
function recentRemovals(previous: OpenstackConfigStatus, now: Date) {
  return listOf(recordsWithin(recordsOf({ status: previous }) ?? [], now));
}

/** Returns a list; undefined: empty. */
function listOf<T>(list: readonly T[]): T[] | undefined {
  return list.length > 0 ? [...list] : undefined;
}

/** Interval for writing a status with only a new sync time. */
export const heartbeatMs = 10 * 60_000;

/**
 * Returns whether the status must be written: changed content, an attempt for a new value of reconcile-at, or the
 * heartbeat is due.
 */
export function isNews(status: OpenstackConfigStatus, previous: OpenstackConfigStatus): boolean {
  const { lastSyncedAt, lastAttempt, ...now } = status;
  const { lastSyncedAt: before, lastAttempt: earlier, ...rest } = previous;
  if (!isSameJson(now, rest) || lastAttempt?.reconcileAt !== earlier?.reconcileAt) return true;
  if (lastSyncedAt === undefined) return false;
  if (before === undefined) return true;
  // Math.abs: a clock that was set back must not delay the heartbeat.
  return Math.abs(Date.parse(lastSyncedAt) - Date.parse(before)) >= heartbeatMs;
}

type NodeStatus = NonNullable<OpenstackConfigStatus['nodes']>[number];

/** Returns the worst nodes: undelivered nodes first, then ordered by node state. */
function worstNodes(synced: SyncResult): NodeStatus[] {
  const byName = new Map(synced.held.map((node) => [node.nodeName, node]));
  const problemOf = problemsOfNodes(synced);
  const ranked = synced.nodes.map((node) => {
    const problem = problemOf(node);
    const held = byName.get(node.nodeName);
    const isIdle = !problem && hasNoPorts(node, held);
    const known = synced.reportsStatus ? progressOf(held) : unreported;
    const { state, ...progress } = isIdle ? idle : known;
    return { node, state, why: problem ?? progress, rank: problem ? 0 : (ranks[state] ?? 1) };
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || compareText(a.node.nodeName, b.node.nodeName))
    .slice(0, maxNodes)
    .map(({ node: { nodeName: name, instanceId, interfaces }, state, why }) => {
      const { reason, message } = why;
      const detail = { reason, message: message && shortMessage(message) };
      return defined({ name, instanceId, interfaces: interfaces.length, state, ...detail });
    });
}

const ranks: Readonly<Record<string, number>> = {
  Failed: 1,
  Pending: 2,
  InProgress: 3,
  Unknown: 3,
  NoPorts: 4,
  Observed: 4,
  Configured: 5,
};

/**
 * Returns a lookup for a node's problem: a failed delivery first, otherwise a problem with the node, its
 * server or a server port.
 */
function problemsOfNodes({ delivery, problems, observation }: SyncResult) {
  const failed = new Map(delivery.failures.map((failure) => [failure.nodeName, failure]));
  const owners = new Map(
    problems.length === 0
      ? []
      : observation.ports.map(({ id, deviceId }) => [`port ${id}`, deviceId]),
  );
  const bySubject = new Map<string, StatusProblem>();
  for (const problem of problems.toReversed()) {
    const subject = 'subject' in problem ? String(problem.subject) : '';
    const server = owners.get(subject);
    bySubject.set(server === undefined ? subject : `server ${server}`, problem);
  }
  return ({ nodeName, instanceId }: NodePlan): StatusProblem | undefined => {
    const failure = failed.get(nodeName);
    if (failure) return { reason: failure.reason, message: failure.message };
    return bySubject.get(`node ${nodeName}`) ?? bySubject.get(`server ${instanceId}`);
  };
}

/** Returns the node's state in the business cluster; no message when Ready is True. */
function progressOf(node: ExistingNodeConfig | undefined) {
  const { state = 'Pending', conditions } = node?.status ?? {};
  const { status, reason, message } = findCondition(conditions, 'Ready') ?? {};
  return { state, reason, message: status === 'True' ? undefined : message };
}

const unreported = {
  state: 'Unknown',
  reason: 'StatusUnsupported' satisfies OperatorReason,
  message: undefined,
} as const;

const noPorts = 'NoPorts' satisfies OperatorReason;
const idle = {
  state: noPorts,
  reason: noPorts,
  message: 'no port of the server becomes a NIC; see status.unusedPorts',
} as const;

/** Returns whether nothing is delivered and no earlier NIC is still on the node. */
function hasNoPorts(
  { interfaces, action, waiting }: NodePlan,
  node: ExistingNodeConfig | undefined,
) {
  if (interfaces.length > 0 || action !== 'none' || waiting) return false;
  return node === undefined || node.status?.state === 'Configured';
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Removes undefined values: server-side apply needs absent fields. */
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as Defined<T>;
}

type DownPortRetry = OpenstackConfigStatus['downPortRetry'];

/** Returns the ids of delivered DOWN ports, sorted. */
function downPortsOf(nodes: readonly NodePlan[], { ports }: Observation): string[] {
  const down = ports.filter(({ status }) => status === 'DOWN').map(({ id }) => id);
  if (down.length === 0) return [];
  const delivered = new Set(nodes.flatMap((node) => node.interfaces.map(({ portId }) => portId)));
  return down.filter((id) => delivered.has(id)).toSorted();
}

/**
 * Counts fast polls for DOWN ports. A changed port set restarts the count; a port set that stays DOWN (a
 * stopped server) is polled slowly after `max` polls.
 */
function downPortRetry(
  ids: readonly string[],
  previous: DownPortRetry,
  max: number,
  now: Date,
): DownPortRetry {
  if (ids.length === 0) return undefined;
  const hash = createHash('sha256').update(ids.join(',')).digest('hex');
  const before = previous?.hash === hash ? (previous.fastAttempts ?? 0) : 0;
  if (previous?.hash === hash && before >= max) return previous;
  return { hash, lastAttempt: rfc3339(now), fastAttempts: before + 1 };
}
