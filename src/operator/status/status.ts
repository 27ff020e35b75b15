import { createHash } from 'node:crypto';
import { findCondition, rfc3339, shortMessage } from '../../api/condition.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Observation } from '../../plan/observation.ts';
import type { NodePlan } from '../../plan/plan.ts';
import { compareText } from '../../plan/view.ts';
import type { SyncResult, SyncSeen } from '../sync/result.ts';
import { conditionsOf, type Ending, type Told, troublesOf } from './conditions.ts';
import { countNics } from './configured-nics.ts';
import type { Trouble } from './step-failure.ts';
import { undelivered } from './undelivered.ts';
import { unusedPortsShown } from './unused-ports.ts';

/** Wishes in annotations that a sync has fulfilled, and consent that it could not use up. */
export interface Handled {
  readonly reconcileAt?: string;
  readonly allowRemovals?: string;
  readonly openAllowRemovals?: OpenstackConfigStatus['openAllowRemovals'];
}

export interface StatusInput {
  readonly ending: Ending;
  readonly notifications?: Told;
  /** What the sync saw and did; undefined when it did not come so far, and then the last of it stays. */
  readonly seen: SyncSeen | undefined;
  readonly previous: OpenstackConfigStatus;
  readonly generation: number;
  readonly now: Date;
  /** Values of annotations that were acted upon; undefined = as before. */
  readonly handled: Handled;
}

const maxNodes = 20;

/** The whole status as it is to be. */
export function statusAfter(input: StatusInput): OpenstackConfigStatus {
  const { ending, notifications, seen, previous, generation, now, handled } = input;
  const found = { ending, notifications, ...foundOf(seen) };
  const conditions = conditionsOf(found, previous.conditions ?? [], { now, generation });
  const ready = findCondition(conditions, 'Ready');
  const [trouble] = troublesOf(ending);
  return defined({
    observedGeneration: generation,
    conditions,
    lastSyncedAt: ready?.status === 'True' ? rfc3339(now) : previous.lastSyncedAt,
    lastError: trouble ? (ready?.message ?? '') : '',
    ...(seen ? seenIn(seen, input) : seenBefore(previous)),
    lastHandledReconcileAt: handled.reconcileAt ?? previous.lastHandledReconcileAt,
    lastHandledAllowRemovals: handled.allowRemovals ?? previous.lastHandledAllowRemovals,
    openAllowRemovals: handled.openAllowRemovals,
  });
}

function foundOf(seen: SyncSeen | undefined) {
  if (seen === undefined) return {};
  const { synced } = seen;
  return { nics: countNics(synced), ports: synced.ports, late: undelivered(synced) };
}

function seenIn({ synced, downPortFastRetryMax }: SyncSeen, { previous, now }: StatusInput) {
  const { configured, planned } = countNics(synced);
  const down = downPortsOf(synced.nodes, synced.observation);
  return {
    summary: { ...synced.summary, nics: `${configured ?? '?'}/${planned}` },
    nodes: worstNodes(synced),
    unusedPorts: unusedPortsShown(synced.ports),
    deliveredTo: notEmpty(synced.deliveredTo),
    downPortRetry: downPortRetry(down, previous.downPortRetry, downPortFastRetryMax, now),
  };
}

function seenBefore(previous: OpenstackConfigStatus) {
  const { summary, nodes, unusedPorts, deliveredTo, downPortRetry: retry } = previous;
  return { summary, nodes, unusedPorts, deliveredTo, downPortRetry: retry };
}

function notEmpty(list: readonly string[]): string[] | undefined {
  return list.length > 0 ? [...list] : undefined;
}

/** A status that says the same but for the time of the sync is written so often. */
export const heartbeatMs = 10 * 60_000;

/** Whether a status says anything that the previous one does not. */
export function isNews(status: OpenstackConfigStatus, previous: OpenstackConfigStatus): boolean {
  const { lastSyncedAt, ...now } = status;
  const { lastSyncedAt: before, ...rest } = previous;
  if (!isSameJson(now, rest)) return true;
  if (lastSyncedAt === undefined) return false;
  if (before === undefined) return true;
  // Either way: a clock that was set back must not silence it for as long.
  return Math.abs(Date.parse(lastSyncedAt) - Date.parse(before)) >= heartbeatMs;
}

type NodeStatus = NonNullable<OpenstackConfigStatus['nodes']>[number];

/** The nodes that need attention most: what could not be delivered, then by the state on the node. */
function worstNodes(synced: SyncResult): NodeStatus[] {
  const byName = new Map(synced.held.map((node) => [node.nodeName, node]));
  const troubleOf = troublesOfNodes(synced);
  const ranked = synced.nodes.map((node) => {
    const trouble = troubleOf(node);
    const held = byName.get(node.nodeName);
    const isIdle = !trouble && hasNoPorts(node, held);
    const known = synced.reportsStatus ? progressOf(held) : unreported;
    const { state, ...progress } = isIdle ? idle : known;
    return { node, state, why: trouble ?? progress, rank: trouble ? 0 : (ranks[state] ?? 1) };
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || compareText(a.node.nodeName, b.node.nodeName))
    .slice(0, maxNodes)
    .map(({ node: { nodeName: name, instanceId, interfaces }, state, why }) => {
      const { reason, message } = why;
      const told = { reason, message: message && shortMessage(message) };
      return defined({ name, instanceId, interfaces: interfaces.length, state, ...told });
    });
}

const ranks: Readonly<Record<string, number>> = {
  Failed: 1,
  Pending: 2,
  InProgress: 3,
  Unknown: 3,
  NoPorts: 4,
  Configured: 5,
};

/** What is wrong with a node: what Viola did not take, else what was found about the node, its server or one of its ports. */
function troublesOfNodes({ delivery, troubles, observation }: SyncResult) {
  const failed = new Map(delivery.failures.map((failure) => [failure.nodeName, failure]));
  const owners = new Map(
    troubles.length === 0
      ? []
      : observation.ports.map(({ id, deviceId }) => [`port ${id}`, deviceId]),
  );
  const bySubject = new Map<string, Trouble>();
  for (const trouble of troubles.toReversed()) {
    const subject = 'subject' in trouble ? String(trouble.subject) : '';
    const server = owners.get(subject);
    bySubject.set(server === undefined ? subject : `server ${server}`, trouble);
  }
  return ({ nodeName, instanceId }: NodePlan): Trouble | undefined => {
    const failure = failed.get(nodeName);
    if (failure) return { reason: failure.reason, message: failure.message };
    return bySubject.get(`node ${nodeName}`) ?? bySubject.get(`server ${instanceId}`);
  };
}

/** How far the business cluster is with a node; that all is well needs no words. */
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

/** Whether there is nothing to deliver, and nothing of before is still on the node. */
function hasNoPorts(
  { interfaces, action, waiting }: NodePlan,
  node: ExistingNodeConfig | undefined,
) {
  if (interfaces.length > 0 || action !== 'none' || waiting) return false;
  return node === undefined || node.status?.state === 'Configured';
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Absent instead of undefined: that is what an applied object must look like. */
function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== undefined),
  ) as Defined<T>;
}

type DownPortRetry = OpenstackConfigStatus['downPortRetry'];

/** Ids of delivered ports that are DOWN, sorted. */
function downPortsOf(nodes: readonly NodePlan[], { ports }: Observation): string[] {
  const down = ports.filter(({ status }) => status === 'DOWN').map(({ id }) => id);
  if (down.length === 0) return [];
  const delivered = new Set(nodes.flatMap((node) => node.interfaces.map(({ portId }) => portId)));
  return down.filter((id) => delivered.has(id)).toSorted();
}

/**
 * Counts the fast looks at ports that are DOWN. Another set of ports starts anew; a set that stays DOWN (a stopped
 * server) is looked at slowly in the end.
 */
export function downPortRetry(
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
