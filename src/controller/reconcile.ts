import type { Node } from '../kube/core-resources.ts';
import { isConflict } from '../kube/errors.ts';
import { refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import type { Random } from '../time/clock.ts';
import type { Deletion } from './deletion/deletion.ts';
import { type Finalizer, hasFinalizer } from './deletion/finalizer.ts';
import type { ScheduleCheck } from './drift/next-check.ts';
import type { Turns } from './drift/turns.ts';
import { collectRuns } from './jobs/obsolete-runs.ts';
import { isObserved } from './jobs/permission.ts';
import { type AcceptedSpec, acceptSpec, type Contents } from './jobs/request.ts';
import type { Runner } from './jobs/runner.ts';
import type { NodeConfig, Stores } from './objects/stores.ts';
import type { UnreadyNodes } from './objects/unready-nodes.ts';
import { contestOf } from './records/contest.ts';
import type { NodeRecords } from './records/node-records.ts';
import type { Gate } from './removals/gate.ts';
import { leavingFirst } from './removals/losses.ts';
import type { EndChanges } from './scheduling/end-changes.ts';
import type { PartialChange } from './scheduling/held-change.ts';
import type { NextRun } from './scheduling/next-run.ts';
import type { Refuse } from './scheduling/refuse.ts';
import { fallbackRequeueMs, lagPauseMs } from './scheduling/requeue.ts';
import type { Rollout } from './scheduling/rollout-budget.ts';
import type { Report, Reporter } from './status/report.ts';
import { targetOf } from './target.ts';
import type { OtherController } from './watch/legacy-controller.ts';

interface ReconcilerOptions {
  readonly stores: Stores;
  readonly otherController: OtherController;
  readonly runner: Pick<Runner, 'runsFor' | 'remove'>;
  readonly finalizer: Finalizer;
  readonly deletion: Deletion;
  readonly gate: Pick<Gate, 'decide'>;
  readonly records: NodeRecords;
  readonly refuse: Refuse;
  readonly unready: UnreadyNodes;
  readonly nextRun: NextRun;
  readonly endChanges: EndChanges;
  readonly scheduleCheck: ScheduleCheck;
  readonly turns: Turns;
  readonly rollout: Pick<Rollout, 'continuedBy' | 'hold'>;
  readonly reporter: Reporter;
  readonly random: Random;
  /** Called when the object is gone. */
  readonly forget: (key: string) => void;
}

/**
 * Reconciles a MultiNicNodeConfig: adds the finalizer, accepts entries, finds the Node, starts an agent run, writes the
 * status, schedules checks. In mode Observe, only schedules checks. If the object is being deleted, cleans the node and
 * removes the finalizer.
 */
export function createReconciler(options: ReconcilerOptions) {
  const { stores, otherController, runner, finalizer, deletion, gate, records, refuse } = options;
  const { unready, nextRun, endChanges, scheduleCheck, turns, rollout, reporter, random, forget } =
    options;

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    return turns.take(key, async () => reconcileOnce(key, signal));
  }

  async function reconcileOnce(key: string, signal: AbortSignal): Promise<Outcome | void> {
    const config = stores.configs.get(key);
    try {
      await collectRuns(runner, refOf(key), config?.metadata.uid, signal);
      return await (config ? proceed(config, signal) : forget(key));
    } catch (error) {
      if (!isConflict(error)) throw error;
      return { requeueAfterMs: lagPauseMs };
    }
  }

  async function proceed(config: NodeConfig, signal: AbortSignal): Promise<Outcome | void> {
    const leaving = config.metadata.deletionTimestamp !== undefined;
    const other = otherController.owns(config);
    if (other !== undefined) return yieldToLegacy(config, other, signal);
    if (!hasFinalizer(config)) {
      // The object may still have foreign finalizers; ours is already removed.
      if (leaving) return;
      // Add the finalizer before any change on a node. The stored object changes and is requeued.
      stores.configs.upsert(await finalizer.add(config, signal));
      return;
    }
    const report = reporter.open(config);
    report.continueRollout(rollout.continuedBy(config));
    try {
      return await (leaving ? deletion.finish(report, signal) : apply(report, signal));
    } catch (error) {
      report.fail(error);
      throw error;
    } finally {
      await report.write(signal);
    }
  }

  /**
   * Yields to the legacy controller. For a deleted object, removes the finalizer without cleaning: the legacy
   * controller owns the node.
   */
  async function yieldToLegacy(config: NodeConfig, message: string, signal: AbortSignal) {
    if (config.metadata.deletionTimestamp === undefined) {
      const other = { message, isRunning: otherController.isRunning() };
      await reporter.yieldToLegacy(config, other, signal);
      return { requeueAfterMs: fallbackRequeueMs(random) };
    }
    if (hasFinalizer(config)) await finalizer.remove(config, signal);
    return undefined;
  }

  async function apply(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const spec = acceptSpec(config);
    const target = targetOf(config, spec, stores);
    report.about(spec, target.kind === 'node' ? target.name : undefined);
    if (target.kind === 'none') return refuse(report, target, signal);
    const { node } = target;
    const absence = unready.of(config, node);
    report.unready(absence?.message);
    const contest = contestOf(config, records);
    if (contest) return refuse(report, contest.why, signal, contest.undone);
    const about = { report, node, spec };
    const outcome = await (isObserved(config) ? observe(about, signal) : change(about, signal));
    return within(outcome, absence?.inMs);
  }

  async function change({ report, node, spec }: About, signal: AbortSignal) {
    const { config } = report;
    const first = leavingFirst({ config, spec, node }, records);
    if (first) return waitFor(first, report);
    const left = await deletion.leaveFormerNode(report, node, 'otherNode', signal);
    if (left) return left;
    const heldChange = rollout.hold(config, node, spec);
    report.holdChange(heldChange);
    const contents = contentsNow(spec, heldChange);
    const edit = { config, node, action: 'apply', contents, cause: 'edit' } as const;
    const decision = await gate.decide(edit, signal);
    if (decision.kind === 'early') return { requeueAfterMs: decision.forMs };
    const { removals, held, status } = decision;
    report.hold({ message: held, status });
    const about = { report, node, action: 'apply', contents } as const;
    const task = { ...about, removals, held: heldChange };
    const progress = await nextRun(task, signal);
    return progress.done ? scheduleCheck(task) : progress;
  }

  /** Leaves the node unchanged, and schedules its next check. */
  async function observe({ report, node, spec }: About, signal: AbortSignal) {
    if (await endChanges(report, signal)) return { requeueAfterMs: 0 };
    report.tell({ kind: 'recorded' });
    return scheduleCheck({ report, node, action: 'apply', contents: spec });
  }

  return reconcile;
}

/** An object with its accepted spec and its Node. */
interface About {
  readonly report: Report;
  readonly node: Node;
  readonly spec: AcceptedSpec;
}

/** Returns what may be applied now. */
function contentsNow(spec: Contents, held: PartialChange | undefined): Contents {
  return held?.contents ?? spec;
}

/** Returns the outcome with a requeue within `ms`; 0 or undefined: none is necessary. */
function within(outcome: Outcome | undefined, ms = 0): Outcome | undefined {
  if (ms === 0) return outcome;
  return { ...outcome, requeueAfterMs: Math.min(outcome?.requeueAfterMs ?? ms, ms) };
}

function waitFor({ metadata }: NodeConfig, report: Report): Outcome {
  const message = `MultiNicNodeConfig ${metadata.name} is being deleted; its NICs on the node are removed first`;
  report.tell({ kind: 'waiting', reason: 'WaitingForTurn', message, repeat: false });
  return { requeueAfterMs: lagPauseMs };
}
