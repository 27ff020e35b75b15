import { type Condition, findCondition, rfc3339 } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { fieldManagers } from '../../api/names.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { pauseOf } from '../../api/pause.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import { isNewer } from '../../kube/cache/resource-version.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import type { NotReady } from '../metrics/not-ready.ts';
import type { Notifications } from '../notifications/notifications.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  generationOf,
  hasLeaveToRemove,
  isSeen,
  openstackConfigs,
  reconcileAtOf,
  statusOf,
} from '../openstack-config.ts';
import type { SyncResult, SyncSeen } from '../sync/result.ts';
import { awaitingConditions, type Ending, pausedConditions, troublesOf } from './conditions.ts';
import { type Handled, isNews, statusAfter } from './status.ts';
import { Steadiness } from './steadiness.ts';
import { recordUnusedPorts } from './unused-ports.ts';

export interface StatusWriter {
  /** The object as it is, our last write included: the watch may not have told us of it yet. */
  latest(object: ConfigObject): ConfigObject;
  /** Writes the status if it says something new, and tells people what changed; without a sync what the last one saw stays. */
  write(
    object: ConfigObject,
    ending: Ending,
    signal: AbortSignal,
    seen?: SyncSeen,
  ): Promise<OpenstackConfigStatus>;
  /**
   * Notes that a business cluster may hold nodes of the object from now on, and answers whether that was not noted yet;
   * throws when the object is gone.
   */
  deliversTo(object: ConfigObject, providerId: string, signal: AbortSignal): Promise<boolean>;
  /** Sets Ready Unknown until the first sync of this generation; `isEvent`: people are told by an Event, too. */
  awaitTrigger(
    object: ConfigObject,
    wait: { readonly message: string; readonly isEvent: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Says that the object is left alone. */
  pause(object: ConfigObject, signal: AbortSignal): Promise<undefined>;
  forget(key: string): void;
}

interface StatusWriterDeps {
  readonly client: Pick<KubeClient, 'applyStatus'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly notReady: Pick<NotReady, 'note'>;
  readonly notifications: Pick<Notifications, 'conditionOf'>;
}

/** What our last write left behind. */
interface Written {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly status: unknown;
}

export function createStatusWriter(deps: StatusWriterDeps): StatusWriter {
  const { client, recorder, perform, clock, notReady, notifications } = deps;
  const written = new Map<string, Written>();
  const steadiness = new Steadiness(clock);

  async function apply(object: ConfigObject, status: OpenstackConfigStatus, signal: AbortSignal) {
    if (!isNews(status, statusOf(latest(object)))) return;
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
    written.set(keyOf(object), { uid, resourceVersion, status: after.status });
    recordReady(recorder, object, status.conditions);
    recordUnusedPorts(recorder, object, statusOf(object), status);
    recordWarnings(recorder, object, status.conditions);
  }

  /** What is told of a status: all of it, or only that it was synced while the rest comes and goes. */
  function steadied(
    object: ConfigObject,
    status: OpenstackConfigStatus,
    previous: OpenstackConfigStatus,
  ): OpenstackConfigStatus {
    if (steadiness.allows(keyOf(object), status)) return status;
    const { lastSyncedAt } = status;
    return lastSyncedAt === undefined ? previous : { ...previous, lastSyncedAt };
  }

  /** Of an object that is gone nothing has to be said any more. */
  async function say(object: ConfigObject, status: OpenstackConfigStatus, signal: AbortSignal) {
    try {
      await apply(object, status, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  function latest(object: ConfigObject): ConfigObject {
    const mine = written.get(keyOf(object));
    if (mine?.uid !== object.metadata.uid) return object;
    const newer = isNewer(mine?.resourceVersion, object.metadata.resourceVersion);
    return newer && mine ? { ...object, status: mine.status } : object;
  }

  return {
    latest,
    async deliversTo(object, providerId, signal) {
      const previous = statusOf(latest(object));
      const { deliveredTo = [] } = previous;
      if (deliveredTo.includes(providerId)) return false;
      const all = [...deliveredTo, providerId].toSorted();
      await apply(object, { ...previous, deliveredTo: all }, signal);
      return true;
    },
    async write(object, ending, signal, seen) {
      const previous = statusOf(latest(object));
      const status = statusAfter({
        ending,
        notifications: notifications.conditionOf(keyOf(object), previous.conditions),
        seen,
        previous,
        generation: generationOf(object),
        now: clock.now(),
        handled: handledBy(latest(object), seen?.synced, clock.now()),
      });
      notReady.note(keyOf(object), reasonsOf(status, ending));
      await say(object, steadied(object, status, previous), signal);
      return status;
    },
    async awaitTrigger(object, { message, isEvent }, signal) {
      notReady.note(keyOf(object), []);
      const previous = statusOf(latest(object));
      const reason = 'WaitingForTrigger' satisfies OperatorReason;
      const isNew = findCondition(previous.conditions, 'Ready')?.reason !== reason;
      const at = { now: clock.now(), generation: generationOf(object) };
      const conditions = awaitingConditions(previous.conditions ?? [], message, at);
      await say(object, { ...previous, conditions }, signal);
      if (isEvent && isNew) recorder.record(object, { type: 'Normal', reason, message });
    },
    async pause(object, signal) {
      notReady.note(keyOf(object), []);
      const previous = statusOf(latest(object));
      const at = { now: clock.now(), generation: generationOf(object) };
      const conditions = pausedConditions(previous.conditions ?? [], pauseOf(latest(object)), at);
      await say(object, { ...previous, conditions }, signal);
    },
    forget(key) {
      written.delete(key);
      steadiness.forget(key);
      notReady.note(key, []);
    },
  };
}

/** Why an object is not Ready: what its condition says, and all that it says nothing about. */
function reasonsOf({ conditions }: OpenstackConfigStatus, ending: Ending): string[] {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status === 'True' || !ready?.reason) return [];
  return [ready.reason, ...troublesOf(ending).map(({ reason }) => reason)];
}

/** A consent that cannot be used up covers what was held when it was given, and not what comes days later. */
const consentHoldsMs = 10 * 60_000;

/**
 * A wish is fulfilled when a sync came through with it; leave to remove, when everything that it may be about was read and
 * delivered as well or when it has been open for too long, and never by an object that was made with it.
 */
function handledBy(object: ConfigObject, synced: SyncResult | undefined, now: Date): Handled {
  const reconcileAt = synced ? reconcileAtOf(object) : '';
  return { ...(reconcileAt === '' ? {} : { reconcileAt }), ...consentAfter(object, synced, now) };
}

/** What becomes of the consent to removals that the object carries. */
function consentAfter(object: ConfigObject, synced: SyncResult | undefined, now: Date): Handled {
  const value = allowRemovalsOf(object);
  if (value !== '' && !isSeen(object)) return { allowRemovals: value };
  if (!hasLeaveToRemove(object)) return {};
  const { openAllowRemovals: open } = statusOf(object);
  const since = openSince(object) ?? rfc3339(now);
  const isOver = now.getTime() - Date.parse(since) >= consentHoldsMs;
  if (synced && (isOver || isUsedUp(synced))) return { allowRemovals: value };
  return synced || open ? { openAllowRemovals: { value, since } } : {};
}

/** Since when a sync acts on the value of the annotation; undefined: none has yet. */
function openSince(object: ConfigObject): string | undefined {
  const { value, since } = statusOf(object).openAllowRemovals ?? {};
  return value === allowRemovalsOf(object) ? since : undefined;
}

/** Whether all that a consent may be about was read, and whatever loses NICs by it was delivered. */
function isUsedUp({ evidenceComplete, nodes, delivery }: SyncResult): boolean {
  const open = new Set([
    // What only a hand can remove needs a consent of its own afterwards.
    ...delivery.failures.flatMap(({ nodeName, reason }) =>
      reason === 'RemovalUnsupported' ? [] : nodeName,
    ),
    ...delivery.waiting.filter((nodeName) => !delivery.removed.includes(nodeName)),
  ]);
  const losing = nodes.filter(({ removals }) => removals.confirmed.length > 0);
  return evidenceComplete && !losing.some(({ nodeName }) => open.has(nodeName));
}

/** Reasons of Ready that are no Event, or have one of their own. */
const withoutEvent: ReadonlySet<string> = new Set<OperatorReason>([
  'NoChange',
  'WaitingForTrigger',
]);

/** Tells people when Ready changes its status or reason; that nothing changed is no event. */
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

/** What is used all the same, and people are told of once: where it is said, and how. */
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
