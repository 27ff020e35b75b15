import { rfc3339 } from '../api/condition.ts';
import { endsWaitForNode } from '../api/delete-consent.ts';
import { annotations } from '../api/names.ts';
import type { Node } from '../kube/core-resources.ts';
import { isConflict } from '../kube/errors.ts';
import { keyOf, refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type Deletion, hasFinalizer } from './deletion/finalizer.ts';
import { type FindFormerNode, isReplacedIn } from './deletion/former-node.ts';
import { reportFormerNode } from './deletion/former-node-report.ts';
import type { Check } from './drift/check-task.ts';
import { hasBooted } from './drift/drift.ts';
import type { Turns } from './drift/turns.ts';
import { type Applied, type RecordAges, recordOf } from './jobs/applied.ts';
import { acceptEntries, acceptSpec, type Contents, nothing } from './jobs/request.ts';
import { isReady, machineOf } from './objects/machine.ts';
import { deletedAt, type NodeConfig, type Stores } from './objects/stores.ts';
import { successorOf } from './records/meaning.ts';
import type { NodeRecords } from './records/node-records.ts';
import { hasDeleteConsent } from './removals/bases.ts';
import type { Gate, GateInput } from './removals/gate.ts';
import { isOn, mayHaveNics } from './removals/known.ts';
import type { RecordRemovals } from './removals/ledger-entry.ts';
import { leavingFirst, lostNics, staysFor } from './removals/losses.ts';
import type { NextRun, Task } from './scheduling/apply-task.ts';
import type { Rollout } from './scheduling/rollout-budget.ts';
import { pausedIn } from './status/paused.ts';
import type { Report, Reporter } from './status/report.ts';
import { findTarget, type Target, targetOf } from './target.ts';
import type { OtherController } from './watch/legacy-controller.ts';

export interface ReconcilerOptions {
  readonly stores: Stores;
  readonly otherController: OtherController;
  readonly deletion: Deletion;
  readonly gate: Gate;
  readonly recordRemovals: RecordRemovals;
  readonly records: NodeRecords;
  readonly formerNode: FindFormerNode;
  readonly nextRun: NextRun;
  readonly check: Pick<Check, 'dueAfterMs' | 'forget'>;
  /** Enqueues a drift check for the object's node, because no change is pending. */
  readonly checkLater: (key: string) => void;
  readonly turns: Turns;
  readonly rollout: Pick<Rollout, 'continuedBy'>;
  readonly ages: RecordAges;
  readonly reporter: Reporter;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** Requeue delay while the local store lags behind the API server; the missing watch event requeues the object too. */
const lagPauseMs = 1_000;
/** Fallback requeue: a watch event normally wakes the object earlier. */
const fallbackRequeueMs = 30_000;
/** Time a deleted object waits for a missing Node. */
const waitForNodeMs = 3_600_000;

/**
 * Reconciles a MultiNicNodeConfig: adds the finalizer, accepts entries, finds the Node, starts an agent run, writes the
 * status, schedules drift checks. If the object is being deleted, cleans the node and removes the finalizer.
 */
export function createReconciler(options: ReconcilerOptions) {
  const { stores, otherController, deletion, gate, recordRemovals, records, nextRun } = options;
  const { formerNode, check, checkLater, turns, rollout, ages, reporter, clock, random } = options;

  /** Adds a jitter of ±20 %: thousands of objects refused for the same reason must not requeue at the same moment. */
  function fallbackRequeue(): number {
    return Math.round(fallbackRequeueMs * (0.8 + 0.4 * random()));
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    return turns.take(key, async () => reconcileOnce(key, signal));
  }

  async function reconcileOnce(key: string, signal: AbortSignal): Promise<Outcome | void> {
    const config = stores.configs.get(key);
    try {
      await deletion.collect(refOf(key), config?.metadata.uid, signal);
      if (config) return await proceed(config, signal);
      ages.forget(key);
      reporter.forget(key);
      gate.forget(key);
      return check.forget(key);
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
      stores.configs.upsert(await deletion.addFinalizer(config, signal));
      return;
    }
    const report = reporter.open(config);
    report.continueRollout(rollout.continuedBy(config));
    try {
      return await (leaving ? finishDeletion(report, signal) : apply(report, signal));
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
      return { requeueAfterMs: fallbackRequeue() };
    }
    if (hasFinalizer(config)) await deletion.release(config, signal);
    return undefined;
  }

  async function apply(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const spec = acceptSpec(config);
    const target = targetOf(config, spec, stores);
    report.about(spec, target.kind === 'node' ? target.name : undefined);
    if (target.kind === 'none') return refuse(report, target, signal);
    const { node } = target;
    const contested = contestedBy(config);
    if (contested) return contest(report, contested, signal);
    const first = leavingFirst({ config, spec, node }, records);
    if (first) return waitFor(first, report);
    const former = await formerNode(config, node, signal);
    // A successor's first run changes no unlisted NIC on the former node, and reports all NICs.
    if (former && !former.successor) {
      return leaveFormerNode(former.node, 'otherNode', report, signal);
    }
    const decided = await decide(
      { config, node, action: 'apply', contents: spec, cause: 'edit' },
      report,
      signal,
    );
    if ('requeueAfterMs' in decided) return decided;
    const task = { report, node, action: 'apply', contents: spec, ...decided } as const;
    const progress = await nextRun(task, signal);
    return progress.done ? checkWhenDue(task) : progress;
  }

  /** Returns the removals that a run may make, or when to decide again. */
  async function decide(input: GateInput, report: Report, signal: AbortSignal) {
    const decision = await gate.decide(input, signal);
    if (decision.kind === 'early') return { requeueAfterMs: decision.forMs };
    const { removals, held, status } = decision;
    report.hold({ message: held, status });
    return { removals, held };
  }

  function checkWhenDue(task: Task): Outcome | undefined {
    const { report, node } = task;
    const record = recordOf(report.config);
    // The run's outcome was just reported and is not stored yet: a new phase must not overwrite the outcome.
    if (!record?.done) return { requeueAfterMs: 0 };
    if (pausedIn(report.config)) return undefined;
    const waitMs = check.dueAfterMs(task);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // After a boot the node's state is unknown; the drift check reports the state.
    if (hasBooted(record, machineOf(node))) report.drop();
    checkLater(keyOf(report.config));
    return undefined;
  }

  async function finishDeletion(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const target = findTarget(config, stores.nodeDirectory);
    report.about(acceptEntries([]), target.kind === 'node' ? target.name : undefined);
    const here = target.kind === 'node' ? target.node : undefined;
    const former = await formerNode(config, here, signal);
    if (former && !former.successor) {
      return leaveFormerNode(former.node, 'deletion', report, signal);
    }
    return here
      ? cleanAndRelease(here, report, signal)
      : releaseWithoutNode(report, target, signal);
  }

  /** Removes the finalizer when the node is clean, or when a different object took the node over. */
  async function cleanAndRelease(
    node: Node,
    report: Report,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    const { config } = report;
    const successor = successorOf(config, node, stores);
    const contents = staysFor(successor, config);
    if (mayLeaveAsIs(config, node, successor, contents)) return release(report, signal);
    if (isGone(config, node, clock.now())) return releaseWithWarning(node, report, signal);
    const input = { config, node, contents, cause: 'deletion' } as const;
    const outcome = await clean(input, report, report, signal);
    return outcome === 'clean' ? release(report, signal) : outcome;
  }

  /**
   * True if a deleted object needs no clean-up: the node belongs to a different object, or a successor lists all NICs.
   * A successor's first run changes no unlisted NIC, and reports all NICs.
   */
  function mayLeaveAsIs(
    config: NodeConfig,
    node: Node,
    successor: NodeConfig | undefined,
    contents: Contents,
  ): boolean {
    return successor ? !lostNics(config, contents)?.length : isForeignNode(config, node);
  }

  /**
   * Removes an object's NICs from a node, except NICs in the contents. `shown`: report for the run. Returns `clean`, or
   * when to continue.
   */
  async function clean(
    { config, node, contents, cause }: Omit<GateInput, 'action'>,
    report: Report,
    shown: Report,
    signal: AbortSignal,
  ): Promise<Outcome | 'clean'> {
    const task = { node, action: 'cleanup', contents } as const;
    const decided = await decide({ config, cause, ...task }, report, signal);
    if ('requeueAfterMs' in decided) return decided;
    const { removals, held } = decided;
    if (held !== undefined && removals.length === 0) return hold(held, report, signal);
    const progress = await nextRun({ ...task, removals, report: shown }, signal);
    if (!progress.done) return progress;
    // The run's outcome was just reported and is not stored yet.
    if (!recordOf(report.config)?.done) return { requeueAfterMs: 0 };
    if (!lostNics(report.config, contents)?.length) return 'clean';
    return held === undefined ? { requeueAfterMs: fallbackRequeue() } : hold(held, report, signal);
  }

  /** Removes the finalizer when the machine is gone, and warns about possible leftovers. */
  async function releaseWithWarning(
    { metadata }: Node,
    report: Report,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    const message = `the server of node ${metadata.name} is gone; NICs may remain on the machine`;
    reporter.warn(report.config, 'NodeGone', message);
    return release(report, signal);
  }

  /** True if the node has no NICs from this object: another object changed the node later, or this object never did. */
  function isForeignNode(config: NodeConfig, node: Node): boolean {
    const record = recordOf(config);
    if (config.status?.applied?.undone || (record && records.later(record))) return true;
    if (isOn(config, node)) return false;
    return records
      .others(config, node.metadata.name)
      .some((other) => other.metadata.deletionTimestamp === undefined && isOn(other, node));
  }

  /** Cleans the former node first. No watch event for the former node wakes this object, hence the requeue. */
  async function leaveFormerNode(
    former: Node,
    cause: 'otherNode' | 'deletion',
    report: Report,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { config } = report;
    const input = { config, node: former, contents: nothing, cause } as const;
    const outcome = await clean(input, report, reportFormerNode(report, former), signal);
    if (outcome === 'clean') return { requeueAfterMs: 0 };
    return { requeueAfterMs: outcome.requeueAfterMs ?? fallbackRequeue() };
  }

  /** Reports that NICs stay until consent; the node stays unchanged. */
  async function hold(message: string, report: Report, signal: AbortSignal): Promise<Outcome> {
    await deletion.withdraw(report.config, signal);
    report.tell({ kind: 'refused', reason: 'RemovalHeld', message });
    return { requeueAfterMs: fallbackRequeue() };
  }

  /**
   * Returns the object's record if an agent run from another namespace changed the node later; the record is then
   * stale.
   */
  function contestedBy(config: NodeConfig): { applied: Applied; message: string } | undefined {
    const applied = recordOf(config);
    const run = applied && records.later(applied);
    if (!run) return undefined;
    const { namespace, name } = run.config;
    const message = `Job ${run.name} of ${namespace}/${name} also changes the node; this object is applied again when that Job no longer exists`;
    return { applied, message };
  }

  async function contest(
    report: Report,
    { applied, message }: { applied: Applied; message: string },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const undone = { ...applied, undone: true };
    report.tell({ kind: 'refused', reason: 'DuplicateInstanceId', message }, undone);
    await deletion.withdraw(report.config, signal);
    return { requeueAfterMs: fallbackRequeue() };
  }

  /**
   * A missing Node object does not prove a deleted machine: after `kubectl delete node` the kubelet registers the Node
   * again at its next start. A new machine under the Node's name ends the wait. The wait counts from the deletion
   * timestamp, hence a controller restart does not prolong the wait.
   */
  async function releaseWithoutNode(
    report: Report,
    target: Target,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    const { config } = report;
    if (target.kind === 'node') throw new Error('the Node exists');
    if (target.reason !== 'NodeNotFound') return refuse(report, target, signal);
    if (!mayHaveNics(config)) return release(report, signal);
    const end = (deletedAt(config)?.getTime() ?? 0) + waitForNodeMs;
    const now = clock.now();
    const leftMs = isNodeGone(config, now) ? 0 : end - now.getTime();
    if (leftMs <= 0) {
      // Reads the Node from the API server, because the cache may be stale.
      if (!(await deletion.nodeIsGone(config, signal))) return refuse(report, target, signal);
      const message = `${target.message}; the object is deleted, NICs may remain on the machine`;
      reporter.warn(config, 'NodeGone', message);
      return release(report, signal);
    }
    const until = rfc3339(new Date(end));
    const message = `${target.message}; the deletion waits for the Node until ${until}, then completes and NICs may remain; if the server no longer exists, set the annotation ${annotations.deleteConsent}=<RFC 3339 time>!`;
    const { requeueAfterMs } = await refuse(report, { ...target, message }, signal);
    return { requeueAfterMs: Math.min(leftMs, requeueAfterMs) };
  }

  /** True if the wait for a missing Node may end: a user agreed, or a new machine has taken its name. */
  function isNodeGone(config: NodeConfig, now: Date): boolean {
    const isAgreed = hasDeleteConsent(config, now) && endsWaitForNode(config.metadata);
    return isAgreed || isReplacedIn(config, stores.nodeDirectory);
  }

  async function release(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const waitMs = await recordRemovals(config, signal);
    if (waitMs !== undefined) return { requeueAfterMs: waitMs };
    report.drop();
    const record = recordOf(config);
    // Mark older records undone: the successor must not rely on work done before this object.
    if (record && !record.undone) await records.take(config, record.nodeName, signal);
    await deletion.release(config, signal);
  }

  async function refuse(report: Report, target: Target, signal: AbortSignal) {
    if (target.kind === 'none') {
      const { reason, message } = target;
      report.tell({ kind: 'refused', reason, message });
    }
    await deletion.withdraw(report.config, signal);
    return { requeueAfterMs: fallbackRequeue() };
  }

  return reconcile;
}

function waitFor({ metadata }: NodeConfig, report: Report): Outcome {
  const message = `MultiNicNodeConfig ${metadata.name} is being deleted; its NICs on the node are removed first`;
  report.tell({ kind: 'waiting', reason: 'WaitingForTurn', message, repeat: false });
  return { requeueAfterMs: lagPauseMs };
}

/** True if a user confirmed the machine's deletion while the Node object still exists and is not ready. */
function isGone(config: NodeConfig, node: Node, now: Date): boolean {
  return (
    isReady(node) === false && hasDeleteConsent(config, now) && endsWaitForNode(config.metadata)
  );
}
