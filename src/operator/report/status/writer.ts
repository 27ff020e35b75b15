import { findCondition, rfc3339 } from '../../../api/condition.ts';
import type { Effect } from '../../../api/effects.ts';
import { fieldManagers } from '../../../api/names.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { pauseOf } from '../../../api/pause.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { isNotFound } from '../../../kube/errors.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Clock } from '../../../time/clock.ts';
import type { Notifications } from '../../cloud/notifications/notifications.ts';
import type { ConfigContext, ConfigMemory } from '../../model/memory/config-memory.ts';
import { lastStatusWrite, latestObject } from '../../model/memory/latest-object.ts';
import { Slot } from '../../model/memory/slot.ts';
import {
  type ConfigObject,
  generationOf,
  observesNodes,
  openstackConfigs,
  reconcileRequestOf,
  statusOf,
} from '../../model/openstack-config.ts';
import type { NicsAndNodes } from '../../removals/budgets.ts';
import type { OpenConsent } from '../../removals/consent.ts';
import { isOverBudget } from '../../removals/hold.ts';
import { recordsOf, withRecord } from '../../removals/records.ts';
import { type Attempt, statusOfAttempt } from './attempt-status.ts';
import { awaitingConditions, type Ending, pausedConditions, problemsOf } from './conditions.ts';
import { recordReady, recordWarnings } from './events.ts';
import { evidenceMemory } from './evidence.ts';
import { unreadSummary, withEvidence } from './evidence-conditions.ts';
import { allowsRead, flapDamping } from './flap-damping.ts';
import { nicsReadyType } from './nics-ready.ts';
import { nicsNotReadyReason, notReadyReasons } from './not-ready-reasons.ts';
import { isNews } from './status.ts';
import { recordUnusedPorts } from './unused-ports.ts';

export interface StatusWriter {
  /**
   * Writes the status after an attempt if changed, with Events for changes. Returns the milliseconds until the next
   * attempt.
   */
  write(context: ConfigContext, attempt: Attempt, signal: AbortSignal): Promise<number>;
  /**
   * Writes what the status must contain before nodes change. Returns false if the status already lists the business
   * cluster; throws if the object is gone.
   */
  prepare(context: ConfigContext, change: PreparedChange, signal: AbortSignal): Promise<boolean>;
  /** Sets Ready Unknown until the first sync of this generation; `isEvent`: also records an Event. */
  awaitTrigger(
    context: ConfigContext,
    wait: { readonly message: string; readonly isEvent: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Writes Delivered and NICsReady by the newest evidence, if changed. */
  refresh(context: ConfigContext, signal: AbortSignal): Promise<void>;
  /** Records a multinic.io/check-nodes request as handled. */
  handledCheckNodes(context: ConfigContext, id: string, signal: AbortSignal): Promise<void>;
  /** Sets the conditions for a paused object. */
  pause(context: ConfigContext, signal: AbortSignal): Promise<undefined>;
}

/** Status fields for a change of nodes. */
interface PreparedChange {
  /** Business cluster that may have nodes; undefined: unchanged. */
  readonly providerId?: string;
  /** Removals that count in the budget; undefined: none. */
  readonly removals?: NicsAndNodes | undefined;
  /** Consent that the change uses; undefined: none. */
  readonly consent?: OpenConsent | undefined;
  /** True: a deletion removes all NICs, which then count as removals and not as delivered. */
  readonly isWithdrawal?: boolean;
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
    const { object, memory } = context;
    const nicsReady = findCondition(status.conditions, nicsReadyType);
    nicsNotReadyReason.set(
      memory.term,
      nicsReady?.status === 'True' ? undefined : nicsReady?.reason,
    );
    if (!isNews(status, statusOf(latestObject(context)))) return;
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
    lastStatusWrite.set(memory, { uid, resourceVersion, status: after.status });
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

  return inTurns({
    async prepare(context, { providerId, removals, consent, isWithdrawal }, signal) {
      const latest = latestObject(context);
      const previous = statusOf(latest);
      const { deliveredTo = [], summary } = previous;
      const isFirst = providerId !== undefined && !deliveredTo.includes(providerId);
      const records = recordsOf(latest) ?? [];
      const status = {
        ...previous,
        ...(isFirst ? { deliveredTo: [...deliveredTo, providerId].toSorted() } : {}),
        ...(removals ? { removals: withRecord(records, removals, clock.now()) } : {}),
        ...(consent ? { openAllowRemovals: consent } : {}),
        ...(isWithdrawal ? withdrawn(latest, summary) : {}),
      };
      await apply(context, status, signal);
      return isFirst;
    },
    async write(context, attempt, signal) {
      const { object, memory } = context;
      const previous = statusOf(latestObject(context));
      const status = statusOfAttempt(context, attempt, {
        previous,
        notifications,
        now: clock.now(),
      });
      notReadyReasons.set(memory.term, reasonsOf(status, attempt.ending));
      const { ms, at } = attempt.next(status);
      const lastAttempt = attemptAt(object, clock.now(), at);
      await applyIfPresent(context, damped(context, { ...status, lastAttempt }, previous), signal);
      return ms;
    },
    async refresh(context, signal) {
      const status = refreshed(context, clock.now());
      if (status) await applyIfPresent(context, status, signal);
    },
    async awaitTrigger(context, { message, isEvent }, signal) {
      const { object, memory } = context;
      notReadyReasons.set(memory.term, new Set());
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
      notReadyReasons.set(memory.term, new Set());
      const previous = statusOf(latestObject(context));
      const at = { now: clock.now(), generation: generationOf(object) };
      const conditions = pausedConditions(
        previous.conditions ?? [],
        pauseOf(latestObject(context)),
        at,
      );
      await applyIfPresent(context, { ...previous, conditions }, signal);
    },
  });
}

/** Serializes writes per OpenstackConfig: each write replaces the whole status, so concurrent writes would revert fields. */
function inTurns(writer: StatusWriter): StatusWriter {
  const turns = new Slot<ConfigMemory, Promise<unknown>>(() => Promise.resolve());
  async function inTurn<T>({ memory }: ConfigContext, write: () => Promise<T>): Promise<T> {
    const turn = turns.of(memory).then(write);
    turns.set(memory, Promise.allSettled([turn]));
    return turn;
  }
  return {
    write: async (context, ...rest) => inTurn(context, async () => writer.write(context, ...rest)),
    prepare: async (context, ...rest) =>
      inTurn(context, async () => writer.prepare(context, ...rest)),
    refresh: async (context, ...rest) =>
      inTurn(context, async () => writer.refresh(context, ...rest)),
    awaitTrigger: async (context, ...rest) =>
      inTurn(context, async () => writer.awaitTrigger(context, ...rest)),
    handledCheckNodes: async (context, ...rest) =>
      inTurn(context, async () => writer.handledCheckNodes(context, ...rest)),
    pause: async (context, ...rest) => inTurn(context, async () => writer.pause(context, ...rest)),
  };
}

/** Returns the status with the newest evidence; undefined: damped, deleted, or never synced. */
function refreshed(context: ConfigContext, now: Date): OpenstackConfigStatus | undefined {
  const { memory } = context;
  const latest = latestObject(context);
  const previous = statusOf(latest);
  const { conditions = [] } = previous;
  const isDeleted = latest.metadata.deletionTimestamp !== undefined;
  if (isDeleted || !findCondition(conditions, nicsReadyType)) return undefined;
  const evidence = evidenceMemory.of(memory.term);
  const at = { now, generation: generationOf(latest), observes: observesNodes(latest) };
  const status = withEvidence(previous, conditions, evidence, at);
  return evidence.isOld || allowsRead(memory, status) ? status : undefined;
}

/** Returns the status to write: the complete status, or only the sync time while the status flaps. */
function damped(
  { memory }: ConfigContext,
  status: OpenstackConfigStatus,
  previous: OpenstackConfigStatus,
): OpenstackConfigStatus {
  // After a restart the status alone says that removals are held.
  if (flapDamping.of(memory).allows(status) || isHold(status) !== isHold(previous)) return status;
  const {
    openAllowRemovals: _open,
    removals: _removals,
    heldRemovals: _held,
    ...before
  } = previous;
  const { lastSyncedAt, lastHandledAllowRemovals, openAllowRemovals, heldRemovals, removals } =
    status;
  return {
    ...before,
    lastAttempt: status.lastAttempt,
    ...(lastSyncedAt === undefined ? {} : { lastSyncedAt }),
    ...(lastHandledAllowRemovals === undefined ? {} : { lastHandledAllowRemovals }),
    ...(openAllowRemovals === undefined ? {} : { openAllowRemovals }),
    ...(heldRemovals === undefined ? {} : { heldRemovals }),
    ...(removals === undefined ? {} : { removals }),
  };
}

/** Returns the record of an attempt; `object` has the annotations of the attempt's start. */
function attemptAt(
  object: ConfigObject,
  now: Date,
  nextAt: Date | undefined,
): NonNullable<OpenstackConfigStatus['lastAttempt']> {
  const reconcileAt = reconcileRequestOf(object);
  return {
    ...(reconcileAt === '' ? {} : { reconcileAt }),
    at: rfc3339(now),
    ...(nextAt === undefined ? {} : { nextAt: rfc3339(nextAt) }),
  };
}

/** Returns the status for a started withdrawal: no NICs are left, and a restart continues the deletion. */
function withdrawn(
  object: ConfigObject,
  summary: OpenstackConfigStatus['summary'],
): Pick<OpenstackConfigStatus, 'summary' | 'withdrawal'> {
  return {
    summary: { ...unreadSummary(summary), nodes: 0, interfaces: 0 },
    withdrawal: { uid: object.metadata.uid ?? '', generation: generationOf(object) },
  };
}

/** True if the status says that removals wait above a budget. */
function isHold({ conditions }: OpenstackConfigStatus): boolean {
  return isOverBudget(findCondition(conditions, 'Delivered'));
}

/** Returns why an object is not Ready: the condition's reason and every problem's reason. */
function reasonsOf({ conditions }: OpenstackConfigStatus, ending: Ending): ReadonlySet<string> {
  const ready = findCondition(conditions, 'Ready');
  if (ready?.status === 'True' || !ready?.reason) return new Set();
  return new Set([ready.reason, ...problemsOf(ending).map(({ reason }) => reason)]);
}
