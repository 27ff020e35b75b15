import { type Condition, type ConditionUpdate, findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { refusalReason } from '../../api/job.ts';
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
import {
  isWrittenByOther,
  type NodeConfig,
  nodeConfigs,
  otherControllerActive,
  refOfConfig,
} from '../objects/stores.ts';
import type { NameMatch } from '../target.ts';
import { yieldPatch } from '../watch/legacy-controller.ts';
import type { RunPhase } from './conditions.ts';
import { statusOf, statusPatch } from './status.ts';

export interface ReportOptions {
  readonly client: Pick<KubeClient, 'patchStatus'>;
  readonly configs: Store<NodeConfig>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: ControllerMetrics;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
}

/** What one visit of an object has to tell; of several things the last one. */
export interface Report {
  /** The object as the last write left it. */
  readonly config: NodeConfig;
  /** What its entries are worth, and how its node was found. */
  about(spec: AcceptedSpec, name: NameMatch | undefined): void;
  /** `drift`: what the condition Drifted says from now on. */
  tell(situation: RunPhase, applied?: Applied, drift?: ConditionUpdate): void;
  /** Adds to what is written a value of `rollout-continue` that is handled; undefined: none. */
  continueRollout(handled: NodeConfigStatus['rolloutContinued']): void;
  /** Tells of a refusal; any other error leaves nothing to tell. */
  fail(error: unknown): void;
  /** The object is let go: there is nobody left to tell. */
  drop(): void;
  /** Writes what was told into the status, when it is new. */
  write(signal: AbortSignal): Promise<void>;
}

interface Told {
  readonly situation: RunPhase;
  readonly applied: Applied | undefined;
  readonly drift: ConditionUpdate | undefined;
}

/** The legacy controller as it is seen at a visit. */
interface OtherAtWork {
  readonly message: string;
  readonly isRunning: boolean;
}

/** A report of the legacy controller on an object. */
interface OtherReported {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  /** Whether it was seen running then or since. */
  readonly wasRunning: boolean;
}

export interface Reporter {
  open(config: NodeConfig): Report;
  /**
   * Reports on the object that the legacy controller owns it, and what to do. It is reported again after `open`, and when the
   * legacy controller has stopped or the spec has changed while none is seen running.
   */
  standBack(config: NodeConfig, other: OtherAtWork, signal: AbortSignal): Promise<void>;
  /** Records a Warning Event about an object whose status is not written any more. */
  warn(config: NodeConfig, reason: Reason, message: string): void;
  /** Whether a change is a status that is being written here, and nothing else. */
  wrote(change: Change<NodeConfig>): boolean;
  /** The object is gone. */
  forget(key: string): void;
}

export function createReporter(options: ReportOptions): Reporter {
  const { client, configs, recorder, metrics, perform, clock } = options;
  const ownWrites = new OwnWrites();
  /** By key: the objects on which this process reported the legacy controller. */
  const standingBack = new Map<string, OtherReported>();

  function open(config: NodeConfig): Report {
    standingBack.delete(keyOf(config));
    let current = config;
    let spec = acceptEntries([]);
    let name: NameMatch | undefined;
    let told: Told | undefined;
    let continued: NodeConfigStatus['rolloutContinued'];
    return {
      get config() {
        return current;
      },
      about(ofSpec, ofName) {
        spec = ofSpec;
        name = ofName;
      },
      tell(situation, applied, drift) {
        told = { situation, applied, drift };
      },
      continueRollout(handled) {
        continued = handled;
      },
      fail(error) {
        told = undefined;
        const message = refusalIn(error);
        if (message === undefined) return;
        const situation = { kind: 'refused', reason: 'JobRefused', message } as const;
        told = { situation, applied: undefined, drift: undefined };
      },
      drop() {
        told = undefined;
      },
      async write(signal) {
        if (!told) return;
        const { situation } = told;
        const next = statusOf({
          config: current,
          spec,
          name,
          ...told,
          continued,
          now: clock.now(),
        });
        told = undefined;
        const patch = statusPatch(current, next);
        if (patch === undefined) return;
        const before = current;
        current = await ownWrites.during(before, next, async () => {
          const written = await write(before, patch, signal);
          // Before the watch event arrives, so that the next reconcile does not read the former status.
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

  async function standBack(config: NodeConfig, other: OtherAtWork, signal: AbortSignal) {
    const { message, isRunning } = other;
    const { uid, generation } = config.metadata;
    const key = keyOf(config);
    const patch = yieldPatch(config, message, clock.now());
    if (patch === undefined) return;
    const last = standingBack.get(key);
    if (last !== undefined && lacksReport(config) && isStillTrue(last, config, isRunning)) {
      standingBack.set(key, { ...last, wasRunning: isRunning });
      return;
    }
    configs.upsert(await write(config, patch, signal));
    standingBack.set(key, { uid, generation, wasRunning: isRunning });
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
    standBack,
    warn: (config, reason, message) =>
      recorder.record(config, { type: 'Warning', reason, message }),
    wrote: (change) => ownWrites.has(change),
    forget(key) {
      standingBack.delete(key);
    },
  };
}

/** Returns whether the legacy controller has overwritten the report, as each of its writes does. */
function lacksReport({ status }: NodeConfig): boolean {
  return (
    status !== undefined &&
    isWrittenByOther(status) &&
    findCondition(status.conditions, otherControllerActive) === undefined
  );
}

/**
 * Whether a report that was replaced needs no other one. While the legacy controller runs, another write would conflict with
 * its next one and start its agent again, and a status in its form is evidence enough. After it has stopped, that status says
 * nothing of who configures the node, and nothing of a spec that has changed since.
 */
function isStillTrue(last: OtherReported, { metadata }: NodeConfig, isRunning: boolean): boolean {
  if (last.uid !== metadata.uid) return false;
  return isRunning || (!last.wasRunning && last.generation === metadata.generation);
}

/** Why a run was refused, if that is what happened; a server that is not there or too busy refuses nothing. */
export function refusalIn(error: unknown): string | undefined {
  if (error instanceof RunRefused) return error.message;
  if (!(error instanceof KubeError)) return undefined;
  const { status, reason, message } = error;
  if (status === 409 && reason !== 'AlreadyExists') return undefined;
  return status >= 400 && status < 500 && status !== 429 ? message : undefined;
}

/** Tells people what became of an object, once for each change of its condition Ready. */
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

/** Once for each time that a node is found to differ. */
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
  const lost = verdict.kind === 'result' ? (verdict.result.foreignStateLost ?? 0) : 0;
  if (lost > 0) metrics.count('multinic_agent_foreign_state_lost_total', {}, lost);
}

/** Name of this controller in metrics that all controllers share. */
export const controllerName = 'node-config';

/** What `multinic_job_results_total` calls an ending. */
export function outcomeLabel(verdict: RunOutcome): string {
  if (verdict.kind === 'result') return verdict.result.outcome;
  return refusalReason.safeParse(verdict.reason).success ? 'refused' : verdict.reason;
}

/**
 * Statuses on their way to the server. What comes back of one is no news to the visit that writes it: an object would else
 * come again at once whenever its status changed, and a refusal that is never put in the same words twice would be tried
 * without a pause.
 */
class OwnWrites {
  readonly #underWay = new Map<string, UnderWay>();
  /** Carries out the write of this status; whatever else changes the object meanwhile stays news. */
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

  /** Whether a change is a write under way that has come back, and nothing else. */
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
