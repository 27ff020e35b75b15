import type { Node } from '../kube/core-resources.ts';
import { isConflict } from '../kube/errors.ts';
import { refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import { type Deletion, type DeletionGuard, isHeld } from './deletion/finalizer.ts';
import type { RecordAges } from './jobs/applied.ts';
import { acceptEntries, acceptSpec, nothing } from './jobs/request.ts';
import type { Failure } from './jobs/runner.ts';
import type { NodeConfig, Stores } from './objects/stores.ts';
import type { NextRun, Progress } from './scheduling/apply-task.ts';
import type { Check } from './scheduling/check-task.ts';
import { isRepeat, readyIn, type Situation } from './status/conditions.ts';
import type { Report, Reporter } from './status/report.ts';
import { duplicatesOf, findTarget, type Target, targetOf } from './target.ts';
import type { OtherController } from './watch/legacy-controller.ts';

export interface ReconcilerOptions {
  readonly stores: Stores;
  readonly otherController: OtherController;
  readonly deletion: Deletion;
  readonly guard: DeletionGuard;
  readonly nextRun: NextRun;
  readonly check: Check;
  readonly ages: RecordAges;
  readonly reporter: Reporter;
}

/** For a store that lags behind the server; the change that it lacks brings the object back too. */
const lagPauseMs = 1_000;
/** Whoever waits for somebody to do something is woken by that; this finds what nobody told. */
const askAgainMs = 30_000;

/**
 * The way of a MultiNicNodeConfig: hold it, accept its entries, find its node, send an agent, report, and look whether the
 * node stays so; or, when it is being deleted, have its node cleaned and let it go.
 */
export function createReconciler(options: ReconcilerOptions) {
  const { stores, otherController, deletion, guard, nextRun, check, ages, reporter } = options;

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    const config = stores.configs.get(key);
    try {
      await deletion.collect(refOf(key), config?.metadata.uid, signal);
      if (config) return await proceed(config, signal);
      ages.forget(key);
      reporter.forget(key);
      return check.forget(key);
    } catch (error) {
      if (!isConflict(error)) throw error;
      return { requeueAfterMs: lagPauseMs };
    }
  }

  async function proceed(config: NodeConfig, signal: AbortSignal): Promise<Outcome | void> {
    const leaving = config.metadata.deletionTimestamp !== undefined;
    const other = otherController.owns(config);
    if (other !== undefined) return standBack(config, other, signal);
    if (!isHeld(config)) {
      // Others may hold it still when it leaves; nothing of ours is left then.
      if (leaving) return;
      // Before anything is done on a node. The stored object changes by this and comes back here.
      stores.configs.upsert(await deletion.hold(config, signal));
      return;
    }
    const report = reporter.open(config);
    try {
      return await (leaving ? letGo(report, signal) : apply(report, signal));
    } catch (error) {
      report.fail(error);
      throw error;
    } finally {
      await report.write(signal);
    }
  }

  /** An object that leaves is let go: who has the cluster in its hands cleans its node when it is gone. */
  async function standBack(config: NodeConfig, message: string, signal: AbortSignal) {
    if (config.metadata.deletionTimestamp === undefined) {
      await reporter.standBack(config, message, signal);
      return { requeueAfterMs: askAgainMs };
    }
    if (isHeld(config)) await deletion.release(config, signal);
    return undefined;
  }

  async function apply(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const spec = acceptSpec(config);
    const target = targetOf(config, spec, stores);
    report.about(spec, target.kind === 'node' ? target.name : undefined);
    if (target.kind === 'none') return refuse(report, target, signal);
    const former = await deletion.formerNode(config, target.node, signal);
    if (former) return cleanFirst(former, report, signal);
    const { node } = target;
    const task = { report, node, action: 'apply', contents: spec } as const;
    const progress = await nextRun(task, signal);
    return progress.done ? check.look(task, signal) : progress;
  }

  async function letGo(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const target = findTarget(config, stores.nodeDirectory);
    report.about(acceptEntries([]), target.kind === 'node' ? target.name : undefined);
    const here = target.kind === 'node' ? target.node : undefined;
    const former = await deletion.formerNode(config, here, signal);
    if (former) {
      return (await mayClean(report, signal)) ?? cleanFirst(former, report, signal);
    }
    if (await isFree(config, target, signal)) return release(report, signal);
    if (!here) return refuse(report, target, signal);
    const pause = await mayClean(report, signal);
    if (pause) return pause;
    const progress = await clean(here, report, signal);
    return progress.done ? release(report, signal) : progress;
  }

  /** What happens to a node that the object does not mean any more wakes nobody. */
  async function cleanFirst(former: Node, report: Report, signal: AbortSignal): Promise<Outcome> {
    const progress = await clean(former, elsewhere(report, former), signal);
    return { requeueAfterMs: progress.done ? 0 : (progress.requeueAfterMs ?? askAgainMs) };
  }

  /** Undefined when the node of a deleted object may be cleaned. */
  async function mayClean(report: Report, signal: AbortSignal): Promise<Outcome | undefined> {
    const leave = await guard.ask(report.config, signal);
    if (leave.kind === 'early') return { requeueAfterMs: leave.forMs };
    if (leave.kind === 'granted') return undefined;
    report.tell({ kind: 'refused', reason: 'MassDeletion', message: leave.message });
    return { requeueAfterMs: askAgainMs };
  }

  /** Whether nothing of the object can be on any node, or somebody else takes over what there is. */
  async function isFree(config: NodeConfig, target: Target, signal: AbortSignal): Promise<boolean> {
    // The first run for an object that takes the node over removes what this one leaves.
    if (target.kind === 'node') return duplicatesOf(config, target.node, stores).length > 0;
    return target.reason === 'NodeNotFound' && (await deletion.nodeIsGone(config, signal));
  }

  function clean(node: Node, report: Report, signal: AbortSignal): Promise<Progress> {
    return nextRun({ report, node, action: 'cleanup', contents: nothing }, signal);
  }

  async function release(report: Report, signal: AbortSignal): Promise<void> {
    report.drop();
    await deletion.release(report.config, signal);
    guard.gone(report.config);
  }

  async function refuse(report: Report, target: Target, signal: AbortSignal): Promise<Outcome> {
    if (target.kind === 'none') {
      const { reason, message } = target;
      report.tell({ kind: 'refused', reason, message });
    }
    await deletion.withdraw(report.config, signal);
    return { requeueAfterMs: askAgainMs };
  }

  return reconcile;
}

/** What is told of work on a node that the object does not mean any more: that it comes first. */
function elsewhere(report: Report, { metadata }: Node): Report {
  const first = `node ${metadata.name}, which the object meant before, is cleaned first`;
  return {
    ...report,
    get config() {
      return report.config;
    },
    tell(situation, applied) {
      // What was told of its end stands.
      if (situation.kind === 'recorded') return;
      const why = obstacleIn(situation);
      const reason = why?.reason ?? 'WaitingForTurn';
      const message = why ? `${first}: ${why.message}` : first;
      report.tell({ kind: 'waiting', reason, message, repeat: isRepeat(situation) }, applied);
    },
  };
}

/** Why the work does not come to its end; undefined while it goes on. */
function obstacleIn(situation: Situation): Failure | undefined {
  if (situation.kind === 'waiting') return situation;
  if (situation.kind === 'working') return situation.run.trouble;
  if (situation.kind !== 'ended') return undefined;
  if (situation.verdict.kind === 'failure') return situation.verdict;
  const { status, message } = readyIn(situation, []);
  return status === 'False' ? { reason: 'JobFailed', message } : undefined;
}
