import { type Condition, type ConditionUpdate, findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { refusalReason } from '../../api/job.ts';
import { isWrittenByLegacy, otherControllerActive } from '../../api/legacy-status.ts';
import type { metricTable } from '../../api/metrics.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Change, Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import type { Metrics } from '../../process/metrics.ts';
import type { Clock } from '../../time/clock.ts';
import type { Applied } from '../jobs/applied.ts';
import { type AcceptedSpec, acceptEntries } from '../jobs/request.ts';
import { type RunOutcome, RunRefused } from '../jobs/runner.ts';
import { type NodeConfig, nodeConfigs, refOfConfig } from '../objects/stores.ts';
import type { NameMatch } from '../target.ts';
import { yieldPatch } from '../watch/legacy-controller.ts';
import { type Hold, type RunPhase } from './run-phase.ts';
import { statusOf } from './status.ts';
import { statusPatch } from './status-patch.ts';

export interface ReportOptions {
  readonly client: Pick<KubeClient, 'patchStatus'>;
  readonly configs: Store<NodeConfig>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: ControllerMetrics;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
}

/** Status changes collected during one reconcile; the last phase wins. */
export interface Report {
  /** The object after the last write. */
  readonly config: NodeConfig;
  /** Sets the accepted entries and the node name match. */
  about(spec: AcceptedSpec, name: NameMatch | undefined): void;
  /** Sets the phase to write. `drift`: new condition Drifted. */
  tell(situation: RunPhase, applied?: Applied, drift?: ConditionUpdate): void;
  /** Sets what the gate decided about removals; without a call the earlier hold stays. */
  hold(removals: Hold): void;
  /** Adds a handled value of `rollout-continue` to the next write; undefined: none. */
  continueRollout(handled: NodeConfigStatus['rolloutContinued']): void;
  /** Sets a refusal for a refused request; any other error clears the phase. */
  fail(error: unknown): void;
  /** Clears the phase, because the object is being released. */
  drop(): void;
  /** Writes the status if changed. */
  write(signal: AbortSignal): Promise<void>;
}

interface PendingStatus {
  readonly situation: RunPhase;
  readonly applied: Applied | undefined;
  readonly drift: ConditionUpdate | undefined;
}

/** Legacy controller as observed in this reconcile. */
interface OtherAtWork {
  readonly message: string;
  readonly isRunning: boolean;
}

/** An earlier report about the legacy controller on an object. */
interface OtherReported {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  /** True if the legacy controller was running then or later. */
  readonly wasRunning: boolean;
}

export interface Reporter {
  open(config: NodeConfig): Report;
  /**
   * Reports on the object that the legacy controller owns it, and what to do. Reports again after `open`, and when the
   * legacy controller stopped or the spec changed without a running legacy controller.
   */
  yieldToLegacy(config: NodeConfig, other: OtherAtWork, signal: AbortSignal): Promise<void>;
  /** Records a Warning event about an object whose status is no longer written. */
  warn(config: NodeConfig, reason: Reason, message: string): void;
  /** True if a change is only a status write from this process under way. */
  wrote(change: Change<NodeConfig>): boolean;
  /** Call when the object is gone. */
  forget(key: string): void;
}

export function createReporter(options: ReportOptions): Reporter {
  const { client, configs, recorder, metrics, perform, clock } = options;
  const ownWrites = new OwnWrites();
  /** Objects reported as owned by the legacy controller, by key. */
  const yieldReports = new Map<string, OtherReported>();

  function open(config: NodeConfig): Report {
    yieldReports.delete(keyOf(config));
    let current = config;
    let spec = acceptEntries([]);
    let name: NameMatch | undefined;
    let pending: PendingStatus | undefined;
    let continued: NodeConfigStatus['rolloutContinued'];
    let hold: Hold | undefined;
    return {
      get config() {
        return current;
      },
      about(ofSpec, ofName) {
        spec = ofSpec;
        name = ofName;
      },
      tell(situation, applied, drift) {
        pending = { situation, applied, drift };
      },
      hold(removals) {
        hold = removals;
      },
      continueRollout(handled) {
        continued = handled;
      },
      fail(error) {
        pending = undefined;
        const message = refusalIn(error);
        if (message === undefined) return;
        const situation = { kind: 'refused', reason: 'JobRefused', message } as const;
        pending = { situation, applied: undefined, drift: undefined };
      },
      drop() {
        pending = undefined;
      },
      async write(signal) {
        if (!pending) return;
        const { situation } = pending;
        const next = statusOf({
          config: current,
          spec,
          name,
          ...pending,
          hold,
          continued,
          now: clock.now(),
        });
        pending = undefined;
        const patch = statusPatch(current, next);
        if (patch === undefined) return;
        const before = current;
        current = await ownWrites.during(before, next, async () => {
          const written = await write(before, patch, signal);
          // Update the cache before the watch event arrives: the next reconcile must not read the old status.
          configs.upsert(written);
          return written;
        });
        recordReady(recorder, before, next.conditions ?? []);
        recordDrift(recorder, before, next.conditions ?? []);
        if (situation.kind !== 'ended') return;
        countEnd(metrics, situation.verdict);
      },
    };
  }

  async function yieldToLegacy(config: NodeConfig, other: OtherAtWork, signal: AbortSignal) {
    const { message, isRunning } = other;
    const { uid, generation } = config.metadata;
    const key = keyOf(config);
    const patch = yieldPatch(config, message, clock.now());
    if (patch === undefined) return;
    const last = yieldReports.get(key);
    if (last !== undefined && lacksReport(config) && isStillTrue(last, config, isRunning)) {
      yieldReports.set(key, { ...last, wasRunning: isRunning });
      return;
    }
    configs.upsert(await write(config, patch, signal));
    yieldReports.set(key, { uid, generation, wasRunning: isRunning });
    recorder.record(config, { type: 'Warning', reason: 'OtherControllerActive', message });
  }

  function write(config: NodeConfig, patch: unknown, signal: AbortSignal) {
    return perform('controller.status.write', () =>
      client.patchStatus(nodeConfigs, refOfConfig(config), patch, {
        fieldManager: fieldManagers.controller,
        signal,
      }),
    );
  }

  return {
    open,
    yieldToLegacy,
    warn: (config, reason, message) =>
      recorder.record(config, { type: 'Warning', reason, message }),
    wrote: (change) => ownWrites.has(change),
    forget(key) {
      yieldReports.delete(key);
    },
  };
}

/** True if the legacy controller has overwritten the report, as each of its writes does. */
function lacksReport({ status }: NodeConfig): boolean {
  return (
    status !== undefined &&
    isWrittenByLegacy(status) &&
    findCondition(status.conditions, otherControllerActive) === undefined
  );
}

/**
 * True if an overwritten report needs no repetition. While the legacy controller runs, a second write would conflict
 * with its next write and restart its agent; its status format is evidence enough. After it stopped, its status says
 * nothing about the current owner or a later spec.
 */
function isStillTrue(last: OtherReported, { metadata }: NodeConfig, isRunning: boolean): boolean {
  if (last.uid !== metadata.uid) return false;
  return isRunning || (!last.wasRunning && last.generation === metadata.generation);
}

/**
 * Returns the message of a refused request; undefined for other errors, such as an unreachable or overloaded server.
 */
export function refusalIn(error: unknown): string | undefined {
  if (error instanceof RunRefused) return error.message;
  if (!(error instanceof KubeError)) return undefined;
  const { status, reason, message } = error;
  if (status === 409 && reason !== 'AlreadyExists') return undefined;
  return status >= 400 && status < 500 && status !== 429 ? message : undefined;
}

/** Records an event for each change of the condition Ready. */
function recordReady(
  recorder: Pick<EventRecorder, 'record'>,
  config: NodeConfig,
  conditions: readonly Condition[],
): void {
  const before = findCondition(config.status?.conditions, 'Ready');
  const now = findCondition(conditions, 'Ready');
  if (!now?.reason || now.status === 'Unknown') return;
  if (before?.status === now.status && before.reason === now.reason) return;
  recorder.record(config, {
    type: now.status === 'True' ? 'Normal' : 'Warning',
    reason: now.reason,
    message: now.message ?? meaningOf(now.reason),
  });
}

/** Records an event each time a node is found drifted. */
function recordDrift(
  recorder: Pick<EventRecorder, 'record'>,
  config: NodeConfig,
  conditions: readonly Condition[],
): void {
  const before = findCondition(config.status?.conditions, 'Drifted');
  const now = findCondition(conditions, 'Drifted');
  if (now?.status !== 'True' || before?.status === 'True') return;
  recorder.record(config, { type: 'Warning', reason: 'Drifted', message: now.message ?? '' });
}

function meaningOf(reason: string): string {
  return reason in reasons ? reasons[reason as Reason].meaning.en : '';
}

export type ControllerMetrics = Pick<Metrics<typeof metricTable>, 'count' | 'set' | 'observe'>;

function countEnd(metrics: ControllerMetrics, verdict: RunOutcome): void {
  metrics.count('multinic_job_results_total', { outcome: outcomeLabel(verdict) });
}

/** Controller name in metrics shared by all controllers. */
export const controllerName = 'node-config';

/** Returns the label `outcome` in `multinic_job_results_total`. */
export function outcomeLabel(verdict: RunOutcome): string {
  if (verdict.kind === 'result') return verdict.result.outcome;
  return refusalReason.safeParse(verdict.reason).success ? 'refused' : verdict.reason;
}

/**
 * Status writes under way. A watch event caused by an own write must not requeue the object: otherwise each status
 * change would requeue immediately, and a refusal whose text changes each time would be retried without backoff.
 */
class OwnWrites {
  readonly #underWay = new Map<string, UnderWay>();
  /** Runs the write of this status; other changes to the object meanwhile still enqueue. */
  async during<T>(
    config: NodeConfig,
    status: NodeConfigStatus,
    write: () => Promise<T>,
  ): Promise<T> {
    const key = keyOf(config);
    this.#underWay.set(key, { identity: identityOf(config), status });
    try {
      return await write();
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** True if the change equals a write under way. */
  has({ type, key, object }: Change<NodeConfig>): boolean {
    const underWay = this.#underWay.get(key);
    if (type !== 'updated' || !underWay) return false;
    const { identity, status } = underWay;
    return isSameJson(identity, identityOf(object)) && isSameJson(object.status, status);
  }
}

interface UnderWay {
  readonly identity: ReturnType<typeof identityOf>;
  readonly status: NodeConfigStatus;
}

function identityOf({ metadata }: NodeConfig) {
  const { resourceVersion: _, ...identity } = metadata;
  return identity;
}
