import type { ConditionUpdate } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { refusalReason } from '../../api/job.ts';
import type { metricTable } from '../../api/metrics.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
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
import { recordDrift, recordReady } from './events.ts';
import { OwnWrites } from './own-writes.ts';
import { type Hold, type RolloutHold, type RunPhase } from './run-phase.ts';
import { statusOf } from './status.ts';
import { statusPatch } from './status-patch.ts';
import { YieldReports } from './yield-reports.ts';

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
  /** Sets why the state of the node's NICs is unknown; undefined: the node is ready, or has just become not ready. */
  unready(message: string | undefined): void;
  /** Sets what the gate decided about removals; without a call the earlier hold stays. */
  hold(removals: Hold): void;
  /** Sets the NICs left unchanged during a rollout; undefined: no such NIC. */
  holdChange(held: RolloutHold | undefined): void;
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

const noEntries = acceptEntries([]);

export function createReporter(options: ReportOptions): Reporter {
  const { client, configs, recorder, metrics, perform, clock } = options;
  const ownWrites = new OwnWrites();
  const yieldReports = new YieldReports();

  function open(config: NodeConfig): Report {
    yieldReports.forget(keyOf(config));
    let current = config;
    let spec = noEntries;
    let name: NameMatch | undefined;
    let pending: PendingStatus | undefined;
    let continued: NodeConfigStatus['rolloutContinued'];
    let hold: Hold | undefined;
    let unready: string | undefined;
    let heldNics: RolloutHold | undefined;
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
      unready(message) {
        unready = message;
      },
      hold(removals) {
        hold = removals;
      },
      holdChange: (held) => void (heldNics = held),
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
          unready,
          heldNics,
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
    const patch = yieldPatch(config, message, clock.now());
    if (patch === undefined || yieldReports.repeats(config, isRunning)) return;
    configs.upsert(await write(config, patch, signal));
    yieldReports.wrote(config, isRunning);
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
    forget: (key) => yieldReports.forget(key),
  };
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
