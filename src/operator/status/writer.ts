import { type Condition, findCondition, rfc3339 } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { fieldManagers } from '../../api/names.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { pauseOf } from '../../api/pause.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import type { ConfigContext } from '../memory/config-memory.ts';
import { latestObject } from '../memory/latest-object.ts';
import type { Notifications } from '../notifications/notifications.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  generationOf,
  hasRemovalApproval,
  isObserved,
  openstackConfigs,
  reconcileAtOf,
  statusOf,
} from '../openstack-config.ts';
import type { ReportedSync, SyncResult } from '../sync/result.ts';
import { awaitingConditions, type Ending, pausedConditions, problemsOf } from './conditions.ts';
import { type Handled, isNews, statusAfter } from './status.ts';
import { recordUnusedPorts } from './unused-ports.ts';

export interface StatusWriter {
  /** Writes the status if changed, with Events for changes; without `completed` the last sync's fields stay. */
  write(
    context: ConfigContext,
    ending: Ending,
    signal: AbortSignal,
    completed?: ReportedSync,
  ): Promise<OpenstackConfigStatus>;
  /**
   * Adds a business cluster to `deliveredTo` before nodes may exist in the cluster. Returns false if the
   * status already lists the cluster; throws if the object is gone.
   */
  deliversTo(context: ConfigContext, providerId: string, signal: AbortSignal): Promise<boolean>;
  /** Sets Ready Unknown until the first sync of this generation; `isEvent`: also records an Event. */
  awaitTrigger(
    context: ConfigContext,
    wait: { readonly message: string; readonly isEvent: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Records a multinic.io/check-nodes request as handled. */
  handledCheckNodes(context: ConfigContext, id: string, signal: AbortSignal): Promise<void>;
  /** Sets the conditions for a paused object. */
  pause(context: ConfigContext, signal: AbortSignal): Promise<undefined>;
}

interface StatusWriterDeps {
  readonly client: Pick<KubeClient, 'applyStatus'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly notifications: Pick<Notifications, 'conditionOf'>;
}

export function createStatusWriter(deps: StatusWriterDeps): StatusWriter {
  const { client, recorder, perform, clock, notifications } = deps;

  async function apply(context: ConfigContext, status: OpenstackConfigStatus, signal: AbortSignal) {
    if (!isNews(status, statusOf(latestObject(context)))) return;
    const { object, memory } = context;
    const { namespace = '', name } = object.metadata;
    const applied = { metadata: { namespace, name }, status };
    const after = await perform('operator.status.write', async () =>
      client.applyStatus(openstackConfigs, applied, {
        fieldManager: fieldManagers.operator,
        // Earlier generations wrote conditions under different field managers.
        force: true,
        signal,
      }),
    );
    const { uid, resourceVersion } = after.metadata;
    memory.lastStatusWrite = { uid, resourceVersion, status: after.status };
    recordReady(recorder, object, status.conditions);
    recordUnusedPorts(recorder, object, statusOf(object), status);
    recordWarnings(recorder, object, status.conditions);
  }

  /** Applies the status; a deleted object needs no status. */
  async function applyIfPresent(
    context: ConfigContext,
    status: OpenstackConfigStatus,
    signal: AbortSignal,
  ) {
    try {
      await apply(context, status, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  return {
    async deliversTo(context, providerId, signal) {
      const previous = statusOf(latestObject(context));
      const { deliveredTo = [] } = previous;
      if (deliveredTo.includes(providerId)) return false;
      const all = [...deliveredTo, providerId].toSorted();
      await apply(context, { ...previous, deliveredTo: all }, signal);
      return true;
    },
    async write(context, ending, signal, completed) {
      const { object, memory } = context;
      const previous = statusOf(latestObject(context));
      const status = statusAfter({
        ending,
        notifications: notifications.conditionOf(keyOf(object), previous.conditions),
        completed,
        previous,
        generation: generationOf(object),
        now: clock.now(),
        handled: handledBy(latestObject(context), completed?.synced, clock.now()),
      });
      memory.term.notReadyReasons = reasonsOf(status, ending);
      await applyIfPresent(context, damped(context, status, previous), signal);
      return status;
    },
    async awaitTrigger(context, { message, isEvent }, signal) {
      const { object, memory } = context;
      memory.term.notReadyReasons = new Set();
      const previous = statusOf(latestObject(context));
      const reason = 'WaitingForTrigger' satisfies OperatorReason;
      const isNew = findCondition(previous.conditions, 'Ready')?.reason !== reason;
      const at = { now: clock.now(), generation: generationOf(object) };
      const conditions = awaitingConditions(previous.conditions ?? [], message, at);
      await applyIfPresent(context, { ...previous, conditions }, signal);
      if (isEvent && isNew) recorder.record(object, { type: 'Normal', reason, message });
    },
    async handledCheckNodes(context, id, signal) {
      const previous = statusOf(latestObject(context));
      await applyIfPresent(context, { ...previous, lastHandledCheckNodes: id }, signal);
    },
    async pause(context, signal) {
      const { object, memory } = context;
      memory.term.notReadyReasons = new Set();
      const previous = statusOf(latestObject(context));
      const at = { now: clock.now(), generation: generationOf(object) };
      const conditions = pausedConditions(
        previous.conditions ?? [],
        pauseOf(latestObject(context)),
        at,
      );
      await applyIfPresent(context, { ...previous, conditions }, signal);
    },
  };
}

/** Returns the status to write: the complete status, or only the sync time while the status flaps. */
function damped(
  { memory }: ConfigContext,
  status: OpenstackConfigStatus,
  previous: OpenstackConfigStatus,
): OpenstackConfigStatus {
  if (memory.flapDamping.allows(status)) return status;
  const { lastSyncedAt } = status;
  return lastSyncedAt === undefined ? previous : { ...previous, lastSyncedAt };
}

/** Returns why an object is not Ready: the condition's reason and every problem's reason. */
function reasonsOf({ conditions }: OpenstackConfigStatus, ending: Ending): ReadonlySet<string> {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status === 'True' || !ready?.reason) return new Set();
  return new Set([ready.reason, ...problemsOf(ending).map(({ reason }) => reason)]);
}

/** Lifetime of an approval while removals remain incomplete: an approval must not cover removals days later. */
const consentHoldsMs = 10 * 60_000;

/**
 * Returns the annotation values handled by a sync. A completed sync handles reconcile-at; allow-removals also
 * needs complete evidence and delivery, or ends after `consentHoldsMs`. allow-removals at creation approves
 * nothing.
 */
function handledBy(object: ConfigObject, synced: SyncResult | undefined, now: Date): Handled {
  const reconcileAt = synced ? reconcileAtOf(object) : '';
  return { ...(reconcileAt === '' ? {} : { reconcileAt }), ...consentAfter(object, synced, now) };
}

/** Returns the approval state in the annotations after a sync. */
function consentAfter(object: ConfigObject, synced: SyncResult | undefined, now: Date): Handled {
  const value = allowRemovalsOf(object);
  if (value !== '' && !isObserved(object)) return { allowRemovals: value };
  if (!hasRemovalApproval(object)) return {};
  const { openAllowRemovals: open } = statusOf(object);
  const since = openSince(object) ?? rfc3339(now);
  const isOver = now.getTime() - Date.parse(since) >= consentHoldsMs;
  if (synced && (isOver || isUsedUp(synced))) return { allowRemovals: value };
  return synced || open ? { openAllowRemovals: { value, since } } : {};
}

/** Returns when syncs began to use the annotation value; undefined: not used yet. */
function openSince(object: ConfigObject): string | undefined {
  const { value, since } = statusOf(object).openAllowRemovals ?? {};
  return value === allowRemovalsOf(object) ? since : undefined;
}

/**
 * Returns whether evidence for every approved removal was read, and every node with removed NICs was
 * delivered.
 */
function isUsedUp({ evidenceComplete, nodes, delivery }: SyncResult): boolean {
  const open = new Set([
    // A removal that only a user can do needs a second approval afterwards.
    ...delivery.failures.flatMap(({ nodeName, reason }) =>
      reason === 'RemovalUnsupported' ? [] : nodeName,
    ),
    ...delivery.waiting.filter((nodeName) => !delivery.removed.includes(nodeName)),
  ]);
  const losing = nodes.filter(({ removals }) => removals.confirmed.length > 0);
  return evidenceComplete && !losing.some(({ nodeName }) => open.has(nodeName));
}

/** Ready reasons without an Event from this function: none necessary, or recorded elsewhere. */
const withoutEvent: ReadonlySet<string> = new Set<OperatorReason>([
  'NoChange',
  'WaitingForTrigger',
]);

/** Records an Event when Ready changes its status or reason. */
export function recordReady(
  recorder: Pick<EventRecorder, 'record'>,
  object: ConfigObject,
  conditions: readonly Condition[] | undefined,
): void {
  const before = findCondition(statusOf(object).conditions, 'Ready');
  const now = findCondition(conditions, 'Ready');
  if (!now?.reason || withoutEvent.has(now.reason)) return;
  if (before?.status === now.status && before.reason === now.reason) return;
  const type = now.status === 'True' || now.reason === 'Deleting' ? 'Normal' : 'Warning';
  recorder.record(object, { type, reason: now.reason, message: now.message ?? '' });
}

/** Conditions that record a Warning once. */
const warnings = [
  { type: 'CredentialsValid', reason: 'SecretInSpec' },
  { type: 'TLSVerified', reason: 'TLSNotVerified' },
] as const satisfies readonly { type: string; reason: OperatorReason }[];

function recordWarnings(
  recorder: Pick<EventRecorder, 'record'>,
  object: ConfigObject,
  conditions: readonly Condition[] | undefined,
): void {
  for (const { type, reason } of warnings) {
    const withReason = (all: readonly Condition[] | undefined) => {
      const now = findCondition(all, type);
      return now?.reason === reason ? now : undefined;
    };
    const now = withReason(conditions);
    if (!now || withReason(statusOf(object).conditions)) continue;
    recorder.record(object, { type: 'Warning', reason, message: now.message ?? '' });
  }
}
