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
  hasLeaveToRemove,
  isObserved,
  openstackConfigs,
  reconcileAtOf,
  statusOf,
} from '../openstack-config.ts';
import type { ReportedSync, SyncResult } from '../sync/result.ts';
import { awaitingConditions, type Ending, pausedConditions, troublesOf } from './conditions.ts';
import { type Handled, isNews, statusAfter } from './status.ts';
import { recordUnusedPorts } from './unused-ports.ts';

export interface StatusWriter {
  /** Writes the status if it differs, with Events for changes; without `seen` the fields of the last sync stay. */
  write(
    context: ConfigContext,
    ending: Ending,
    signal: AbortSignal,
    seen?: ReportedSync,
  ): Promise<OpenstackConfigStatus>;
  /**
   * Adds a business cluster to `deliveredTo`, because it may hold nodes of the object from now on. Returns false if the
   * status names it already; throws if the object is gone.
   */
  deliversTo(context: ConfigContext, providerId: string, signal: AbortSignal): Promise<boolean>;
  /** Sets Ready Unknown until the first sync of this generation; `isEvent`: records an Event, too. */
  awaitTrigger(
    context: ConfigContext,
    wait: { readonly message: string; readonly isEvent: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Sets the conditions of a paused object. */
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
        // Conditions of earlier generations were written under other names.
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

  /** Applies the status; an object that is gone needs none. */
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
    async write(context, ending, signal, seen) {
      const { object, memory } = context;
      const previous = statusOf(latestObject(context));
      const status = statusAfter({
        ending,
        notifications: notifications.conditionOf(keyOf(object), previous.conditions),
        seen,
        previous,
        generation: generationOf(object),
        now: clock.now(),
        handled: handledBy(latestObject(context), seen?.synced, clock.now()),
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

/** Returns the status to write: all of it, or only the time of the sync while the rest flaps. */
function damped(
  { memory }: ConfigContext,
  status: OpenstackConfigStatus,
  previous: OpenstackConfigStatus,
): OpenstackConfigStatus {
  if (memory.flapDamping.allows(status)) return status;
  const { lastSyncedAt } = status;
  return lastSyncedAt === undefined ? previous : { ...previous, lastSyncedAt };
}

/** Why an object is not Ready: the reason of the condition and of every problem. */
function reasonsOf({ conditions }: OpenstackConfigStatus, ending: Ending): ReadonlySet<string> {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status === 'True' || !ready?.reason) return new Set();
  return new Set([ready.reason, ...troublesOf(ending).map(({ reason }) => reason)]);
}

/** An approval that cannot be used up ends after this, so that it does not cover removals days later. */
const consentHoldsMs = 10 * 60_000;

/**
 * Returns the annotation values that a sync has handled. reconcile-at is handled by a completed sync; allow-removals also
 * needs complete evidence and delivery, or ends after `consentHoldsMs`. An object that was created with allow-removals has
 * no approval.
 */
function handledBy(object: ConfigObject, synced: SyncResult | undefined, now: Date): Handled {
  const reconcileAt = synced ? reconcileAtOf(object) : '';
  return { ...(reconcileAt === '' ? {} : { reconcileAt }), ...consentAfter(object, synced, now) };
}

/** Returns what a sync does to the approval of removals in the annotations. */
function consentAfter(object: ConfigObject, synced: SyncResult | undefined, now: Date): Handled {
  const value = allowRemovalsOf(object);
  if (value !== '' && !isObserved(object)) return { allowRemovals: value };
  if (!hasLeaveToRemove(object)) return {};
  const { openAllowRemovals: open } = statusOf(object);
  const since = openSince(object) ?? rfc3339(now);
  const isOver = now.getTime() - Date.parse(since) >= consentHoldsMs;
  if (synced && (isOver || isUsedUp(synced))) return { allowRemovals: value };
  return synced || open ? { openAllowRemovals: { value, since } } : {};
}

/** Returns since when syncs act on the value of the annotation; undefined: none has yet. */
function openSince(object: ConfigObject): string | undefined {
  const { value, since } = statusOf(object).openAllowRemovals ?? {};
  return value === allowRemovalsOf(object) ? since : undefined;
}

/** Whether the evidence for every approved removal was read, and every node that loses NICs was delivered. */
function isUsedUp({ evidenceComplete, nodes, delivery }: SyncResult): boolean {
  const open = new Set([
    // A removal that only a user can do needs another approval afterwards.
    ...delivery.failures.flatMap(({ nodeName, reason }) =>
      reason === 'RemovalUnsupported' ? [] : nodeName,
    ),
    ...delivery.waiting.filter((nodeName) => !delivery.removed.includes(nodeName)),
  ]);
  const losing = nodes.filter(({ removals }) => removals.confirmed.length > 0);
  return evidenceComplete && !losing.some(({ nodeName }) => open.has(nodeName));
}

/** Reasons of Ready without an Event here: none at all, or one elsewhere. */
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

/** Conditions whose reason is recorded once as a Warning. */
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
    const saying = (all: readonly Condition[] | undefined) => {
      const now = findCondition(all, type);
      return now?.reason === reason ? now : undefined;
    };
    const now = saying(conditions);
    if (!now || saying(statusOf(object).conditions)) continue;
    recorder.record(object, { type: 'Warning', reason, message: now.message ?? '' });
  }
}
