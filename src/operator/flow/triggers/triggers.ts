import { findCondition } from '../../../api/condition.ts';
import { finalizers } from '../../../api/names.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { KubeError } from '../../../kube/errors.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Outcome } from '../../../kube/reconcile/controller.ts';
import type { Logger } from '../../../process/log.ts';
import type { Clock } from '../../../time/clock.ts';
import { immediately, type TriggerPolicy } from '../../../triggers/policy.ts';
import type { ConfigContext, ConfigMemory } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import { type ConfigObject, generationOf, statusOf } from '../../model/openstack-config.ts';
import { isSynced } from '../../model/ready.ts';
import type { AttemptSchedule } from '../../report/status/next-attempt.ts';
import { notReadyReasons } from '../../report/status/not-ready-reasons.ts';
import { heartbeatMs } from '../../report/status/status.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import { type Cause, causeOf, syncCausesOf } from './causes.ts';
import { nextScheduledAt, nextSyncAt } from './next-sync.ts';
import { waitMessage } from './wait-message.ts';

export interface TriggersDeps {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'debug'>;
  readonly writer: Pick<StatusWriter, 'awaitTrigger'>;
  readonly memories: Iterable<readonly [string, ConfigMemory]>;
  /** Whether the trigger endpoint has callers. */
  readonly isCallable: boolean;
}

/** Milliseconds by which a timer may fire early. */
const slackMs = 1_000;
/** Longest requeue: a timer does not notice a clock set forward, as after a suspend, so the time is checked again. */
const longestWaitMs = 3_600_000;

/**
 * Admits syncs of live OpenstackConfigs with a cause under the trigger policy, and returns when to requeue. Deleted and
 * paused objects never reach this class. A restart is no cause, because the causes follow from the status.
 */
export class Triggers implements AttemptSchedule {
  readonly #deps: TriggersDeps;
  #policy = immediately;

  constructor(deps: TriggersDeps) {
    this.#deps = deps;
  }

  get mode(): TriggerPolicy['mode'] {
    return this.#policy.mode;
  }

  /** Whether cloud events may start a sync. */
  get followsCloudEvents(): boolean {
    return this.#policy.mode === 'immediate';
  }

  /** Admits syncs by this policy from now on. */
  use(policy: TriggerPolicy): void {
    this.#policy = policy;
    for (const [, { term }] of this.#deps.memories) nextScheduledAt.set(term, undefined);
  }

  /** Syncs if a cause exists; returns when to requeue. */
  async pass(
    context: ConfigContext,
    sync: () => Promise<Outcome | undefined>,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const { log } = this.#deps;
    const { object } = context;
    const config = keyOf(object);
    const policy = this.#policy;
    const { mode } = policy;
    const causes = this.#syncCausesOf(context);
    const due = this.#dueOf(context, policy);
    const isDue = due !== undefined && due.getTime() - this.#now() <= slackMs;
    const cause = causeOf(policy, causes, isDue);
    const fields = { config, mode, isCRChangeEvent: causes.changed };
    if (cause === undefined) {
      log.info(fields, 'Reconcile skipped due to trigger configuration');
      if (causes.changed) await this.#reportWait(context, policy, due, signal);
      nextSyncAt.set(context.memory.term, due);
      return due && awake(this.#until(due));
    }
    if (cause === 'change')
      log.info({ config }, 'Immediate reconcile triggered by CR change event');
    this.#log(cause, mode, fields, 'Proceeding with reconcile');
    await this.#takeBackReady(context, signal);
    const outcome = this.#outcomeOf(context, policy, isDue ? due : undefined, await sync());
    nextSyncAt.set(context.memory.term, this.#after(outcome));
    if (isReady(latestObject(context))) {
      const nextRequeue = textOf(outcome?.requeueAfterMs);
      const done = { config, triggerMode: mode, nextRequeue };
      this.#log(cause, mode, done, 'Reconcile completed successfully');
    }
    return outcome && awake(outcome);
  }

  nextAttemptAt(
    context: ConfigContext,
    status: OpenstackConfigStatus,
    pollMs: number,
  ): Date | undefined {
    const policy = this.#policy;
    const poll = this.#now() + pollMs;
    if (policy.mode === 'immediate') return new Date(poll);
    const reasons = notReadyReasons.of(context.memory.term);
    const object = { ...context.object, status };
    const { unfinished } = syncCausesOf(object, reasons, this.#deps.clock.now());
    const due = this.#dueOf(context, policy);
    const isPast = due !== undefined && due.getTime() - this.#now() <= slackMs;
    const next = isPast ? nextOf(policy, Math.max(this.#now(), due.getTime())) : due;
    const times = [...(next ? [next.getTime()] : []), ...(unfinished ? [poll] : [])];
    return times.length > 0 ? new Date(Math.min(...times)) : undefined;
  }

  /** Returns when to requeue after a sync; `past`: the scheduled time that started the sync. */
  #outcomeOf(
    context: ConfigContext,
    policy: TriggerPolicy,
    past: Date | undefined,
    synced: Outcome | undefined,
  ): Outcome | undefined {
    // The policy changed during the sync.
    if (policy !== this.#policy) return { requeueAfterMs: 0 };
    if (policy.mode === 'immediate') return synced;
    // A sync that threw is repeated, not deferred to the next time of the schedule.
    if (past) {
      const after = Math.max(this.#now(), past.getTime());
      nextScheduledAt.set(context.memory.term, nextOf(policy, after));
    }
    const due = this.#dueOf(context, policy);
    const { unfinished } = this.#syncCausesOf(context);
    const waits = [due && this.#until(due), unfinished ? synced : undefined];
    const ms = waits.flatMap((wait) => wait?.requeueAfterMs ?? []);
    return ms.length > 0 ? { requeueAfterMs: Math.min(...ms) } : undefined;
  }

  async #reportWait(
    context: ConfigContext,
    policy: TriggerPolicy,
    due: Date | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const message = waitMessage(policy, due, this.#deps.isCallable);
    await this.#deps.writer.awaitTrigger(context, { message, isEvent: true }, signal);
  }

  /**
   * Sets an earlier generation's Ready to Unknown: a sync may take minutes, and Ready must not confirm the edit before
   * its sync. Without the finalizer nothing was delivered, and a status write would make the finalizer's write fail.
   */
  async #takeBackReady(context: ConfigContext, signal: AbortSignal): Promise<void> {
    const { object } = context;
    const ready = findCondition(statusOf(object).conditions, 'Ready');
    const isStale = isSynced(ready) && ready?.observedGeneration !== generationOf(object);
    if (!isStale || !object.metadata.finalizers?.includes(finalizers.openstackConfig)) return;
    const message = 'the first sync after the edit is running';
    try {
      await this.#deps.writer.awaitTrigger(context, { message, isEvent: false }, signal);
    } catch (error) {
      // NICs do not wait for an API server that refuses the status; the sync ends with another write.
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      this.#deps.log.debug(
        { err: error, config: keyOf(object) },
        'stale Ready condition not reset',
      );
    }
  }

  #syncCausesOf(context: ConfigContext) {
    const reasons = notReadyReasons.of(context.memory.term);
    return syncCausesOf(latestObject(context), reasons, this.#deps.clock.now());
  }

  /** Returns the next scheduled time; a time missed while no operator ran is due at once. */
  #dueOf({ object, memory: { term } }: ConfigContext, policy: TriggerPolicy): Date | undefined {
    if (!policy.schedule) return undefined;
    const syncedAt = Date.parse(statusOf(object).lastSyncedAt ?? '');
    // lastSyncedAt may be older than the last sync by a heartbeat.
    const syncedUntil = Number.isNaN(syncedAt) ? Number.POSITIVE_INFINITY : syncedAt + heartbeatMs;
    const due = nextScheduledAt.of(term) ?? nextOf(policy, Math.min(this.#now(), syncedUntil));
    // After a clock was set back, an earlier time is next.
    const next = nextOf(policy, this.#now() + slackMs);
    const earlier = next < due ? next : due;
    nextScheduledAt.set(term, earlier);
    return earlier;
  }

  #until(due: Date): Outcome {
    return { requeueAfterMs: Math.max(0, due.getTime() - this.#now()) };
  }

  #after({ requeueAfterMs: ms }: Outcome = {}): Date | undefined {
    return ms === undefined ? undefined : new Date(this.#now() + ms);
  }

  #now(): number {
    return this.#deps.clock.now().getTime();
  }

  /** Logs polls of mode immediate at debug: each would be two lines. */
  #log(cause: Cause, mode: TriggerPolicy['mode'], fields: object, text: string): void {
    const isNoise = mode === 'immediate' && (cause === 'poll' || cause === 'unfinished');
    this.#deps.log[isNoise ? 'debug' : 'info'](fields, text);
  }
}

function awake(outcome: Outcome): Outcome {
  const { requeueAfterMs: ms } = outcome;
  return ms === undefined ? outcome : { requeueAfterMs: Math.min(ms, longestWaitMs) };
}

function nextOf({ schedule }: TriggerPolicy, afterMs: number): Date {
  if (!schedule) throw new Error('a mode without a schedule has no next time');
  return schedule.next(new Date(afterMs));
}

function isReady(object: ConfigObject): boolean {
  return isSynced(findCondition(statusOf(object).conditions, 'Ready'));
}

/** Formats a duration as the legacy operator logs it, to the second: `15m`, `1h30m`, `20s`; `never` for undefined. */
function textOf(ms: number | undefined): string {
  if (ms === undefined) return 'never';
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.flatMap(([count, unit]) => (count > 0 ? `${count}${unit}` : [])).join('') || '0s';
}
