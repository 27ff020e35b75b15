import { findCondition } from '../../api/condition.ts';
import { finalizers } from '../../api/names.ts';
import { KubeError } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import { immediately, type TriggerPolicy } from '../../triggers/policy.ts';
import type { NotReady } from '../metrics/not-ready.ts';
import { type ConfigObject, generationOf, statusOf } from '../openstack-config.ts';
import { heartbeatMs } from '../status/status.ts';
import type { StatusWriter } from '../status/writer.ts';
import { type Cause, causeOf, situationOf } from './causes.ts';
import { waitMessage } from './wait-message.ts';

export interface TriggersDeps {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'debug'>;
  readonly writer: Pick<StatusWriter, 'latest' | 'awaitTrigger'>;
  readonly notReady: Pick<NotReady, 'reasonsOf'>;
  /** Whether the trigger endpoint has callers. */
  readonly isCallable: boolean;
}

/** A timer may ring a little before the time that it was set for. */
const slackMs = 1_000;
/** A timer knows nothing of a clock that is set forward, as that of a machine that slept: it is asked what time it is. */
const longestWaitMs = 3_600_000;

/**
 * Lets looks at live OpenstackConfigs through that the policy has a cause for, and says when one comes up again. Whoever is
 * being deleted or paused does not come by here, and a restart is no cause: what has to be known is in the status.
 */
export class Triggers {
  readonly #deps: TriggersDeps;
  readonly #due = new Map<string, Date>();
  #policy = immediately;

  constructor(deps: TriggersDeps) {
    this.#deps = deps;
  }

  get mode(): TriggerPolicy['mode'] {
    return this.#policy.mode;
  }

  /** Whether what happens in a cloud may start a look. */
  get followsHints(): boolean {
    return this.#policy.mode === 'immediate';
  }

  /** Looks are let through by this from now on. */
  use(policy: TriggerPolicy): void {
    this.#policy = policy;
    this.#due.clear();
  }

  /** Another process may have looked meanwhile: what was kept is in the status. */
  lead(): void {
    this.#due.clear();
  }

  forget(key: string): void {
    this.#due.delete(key);
  }

  /** Looks, or says when to ask again. */
  async pass(
    object: ConfigObject,
    look: () => Promise<Outcome | undefined>,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    const { log } = this.#deps;
    const config = keyOf(object);
    const policy = this.#policy;
    const { mode } = policy;
    const situation = this.#situationOf(object);
    const due = this.#dueOf(object, policy);
    const isDue = due !== undefined && due.getTime() - this.#now() <= slackMs;
    const cause = causeOf(policy, situation, isDue);
    const said = { config, mode, isCRChangeEvent: situation.changed };
    if (cause === undefined) {
      log.info(said, 'Reconcile skipped due to trigger configuration');
      if (situation.changed) await this.#tellWait(object, policy, due, signal);
      return due && awake(this.#until(due));
    }
    if (cause === 'change')
      log.info({ config }, 'Immediate reconcile triggered by CR change event');
    this.#tell(cause, mode, said, 'Proceeding with reconcile');
    await this.#takeBackReady(object, signal);
    const outcome = this.#outcomeOf(object, policy, isDue ? due : undefined, await look());
    if (isReady(this.#deps.writer.latest(object))) {
      const nextRequeue = textOf(outcome?.requeueAfterMs);
      const done = { config, triggerMode: mode, nextRequeue };
      this.#tell(cause, mode, done, 'Reconcile completed successfully');
    }
    return outcome && awake(outcome);
  }

  /** When it comes up again after a look; `past`: the time of the schedule that the look was at. */
  #outcomeOf(
    object: ConfigObject,
    policy: TriggerPolicy,
    past: Date | undefined,
    looked: Outcome | undefined,
  ): Outcome | undefined {
    // Somebody has said something else meanwhile.
    if (policy !== this.#policy) return { requeueAfterMs: 0 };
    if (policy.mode === 'immediate') return looked;
    // A look that threw is made again, and not put off until the next time.
    if (past) this.#due.set(keyOf(object), nextOf(policy, Math.max(this.#now(), past.getTime())));
    const due = this.#dueOf(object, policy);
    const { unfinished } = this.#situationOf(object);
    const waits = [due && this.#until(due), unfinished ? looked : undefined];
    const ms = waits.flatMap((one) => one?.requeueAfterMs ?? []);
    return ms.length > 0 ? { requeueAfterMs: Math.min(...ms) } : undefined;
  }

  async #tellWait(
    object: ConfigObject,
    policy: TriggerPolicy,
    due: Date | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const message = waitMessage(policy, due, this.#deps.isCallable);
    await this.#deps.writer.awaitTrigger(object, { message, isEvent: true }, signal);
  }

  /**
   * A sync may take minutes, and Ready must not say meanwhile that an edit was delivered. Without the finalizer nothing was
   * delivered, and a status write would only make the write of the finalizer fail.
   */
  async #takeBackReady(object: ConfigObject, signal: AbortSignal): Promise<void> {
    const ready = findCondition(statusOf(object).conditions, 'Ready');
    const isStale = ready?.status === 'True' && ready.observedGeneration !== generationOf(object);
    if (!isStale || !object.metadata.finalizers?.includes(finalizers.openstackConfig)) return;
    const message = 'the sync of the edited object goes on';
    try {
      await this.#deps.writer.awaitTrigger(object, { message, isEvent: false }, signal);
    } catch (error) {
      // NICs must not wait for an API server that takes no status; the sync ends with a write of its own.
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      this.#deps.log.debug({ err: error, config: keyOf(object) }, 'stale Ready not taken back');
    }
  }

  #situationOf(object: ConfigObject) {
    const { writer, notReady, clock } = this.#deps;
    const reasons = notReady.reasonsOf(keyOf(object));
    return situationOf(writer.latest(object), reasons, clock.now());
  }

  /** The next time of the schedule; one that passed while nobody was there is made up for. */
  #dueOf(object: ConfigObject, policy: TriggerPolicy): Date | undefined {
    if (!policy.schedule) return undefined;
    const key = keyOf(object);
    const syncedAt = Date.parse(statusOf(object).lastSyncedAt ?? '');
    // The status may say a sync later than it was.
    const seenUntil = Number.isNaN(syncedAt) ? Number.POSITIVE_INFINITY : syncedAt + heartbeatMs;
    const due = this.#due.get(key) ?? nextOf(policy, Math.min(this.#now(), seenUntil));
    // Of a clock that was set back the next time is an earlier one.
    const next = nextOf(policy, this.#now() + slackMs);
    const earlier = next < due ? next : due;
    this.#due.set(key, earlier);
    return earlier;
  }

  #until(due: Date): Outcome {
    return { requeueAfterMs: Math.max(0, due.getTime() - this.#now()) };
  }

  #now(): number {
    return this.#deps.clock.now().getTime();
  }

  /** In mode immediate every poll would be two lines. */
  #tell(cause: Cause, mode: TriggerPolicy['mode'], said: object, text: string): void {
    const isNoise = mode === 'immediate' && (cause === 'poll' || cause === 'unfinished');
    this.#deps.log[isNoise ? 'debug' : 'info'](said, text);
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
  return findCondition(statusOf(object).conditions, 'Ready')?.status === 'True';
}

/** As the deployed system writes durations, to the second: `15m`, `1h30m`, `20s`; `never` without one. */
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
