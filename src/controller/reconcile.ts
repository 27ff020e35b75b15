import { rfc3339 } from '../api/condition.ts';
import { endsWaitForNode } from '../api/delete-consent.ts';
import { annotations } from '../api/names.ts';
import type { Node } from '../kube/core-resources.ts';
import { isConflict } from '../kube/errors.ts';
import { keyOf, refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type Deletion, hasFinalizer } from './deletion/finalizer.ts';
import type { Check } from './drift/check-task.ts';
import { hasBooted } from './drift/drift.ts';
import type { Turns } from './drift/turns.ts';
import { type Applied, deliveredMacs, type RecordAges, recordOf } from './jobs/applied.ts';
import { acceptEntries, acceptSpec, nothing } from './jobs/request.ts';
import type { Failure } from './jobs/runner.ts';
import { isReady, machineOf } from './objects/machine.ts';
import { deletedAt, hasConsent, type NodeConfig, type Stores } from './objects/stores.ts';
import { type FindFormerNode, isClean } from './records/former-node.ts';
import { successorOf } from './records/meaning.ts';
import type { NodeRecords } from './records/node-records.ts';
import {
  isOn,
  leavingFirst,
  losesToSuccessor,
  type RemovalInput,
  removalOf,
} from './removals/losses.ts';
import type { Consent, RemovalGuard } from './removals/removal-guard.ts';
import type { NextRun, Progress, Task } from './scheduling/apply-task.ts';
import type { Rollout } from './scheduling/rollout-budget.ts';
import { isRepeat, type RunPhase, readyIn } from './status/conditions.ts';
import { pausedIn } from './status/paused.ts';
import type { Report, Reporter } from './status/report.ts';
import { findTarget, type Target, targetOf } from './target.ts';
import type { OtherController } from './watch/legacy-controller.ts';

export interface ReconcilerOptions {
  readonly stores: Stores;
  readonly otherController: OtherController;
  readonly deletion: Deletion;
  readonly guard: RemovalGuard;
  readonly records: NodeRecords;
  readonly formerNode: FindFormerNode;
  readonly nextRun: NextRun;
  readonly check: Pick<Check, 'dueAfterMs' | 'forget'>;
  /** Has the node of an object compared with what was applied to it: there is nothing to change. */
  readonly checkLater: (key: string) => void;
  readonly turns: Turns;
  readonly rollout: Pick<Rollout, 'continuedBy'>;
  readonly ages: RecordAges;
  readonly reporter: Reporter;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** For a store that lags behind the server; the change that it lacks brings the object back too. */
const lagPauseMs = 1_000;
/** Fallback requeue: a watch event wakes the object earlier, as a rule. */
const askAgainMs = 30_000;
/** How long a deleted object waits for a Node that is missing. */
const waitForNodeMs = 3_600_000;

/**
 * The way of a MultiNicNodeConfig: hold it, accept its entries, find its node, send an agent, report, and look whether the
 * node stays so; or, when it is being deleted, have its node cleaned and let it go.
 */
export function createReconciler(options: ReconcilerOptions) {
  const { stores, otherController, deletion, guard, records, nextRun, check, ages, reporter } =
    options;
  const { formerNode, checkLater, turns, rollout, clock, random } = options;

  /** ±20 %: thousands that are refused for one reason do not come back at one moment. */
  function askAgain(): number {
    return Math.round(askAgainMs * (0.8 + 0.4 * random()));
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    return turns.take(key, async () => visit(key, signal));
  }

  async function visit(key: string, signal: AbortSignal): Promise<Outcome | void> {
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
    if (!hasFinalizer(config)) {
      // Others may hold it still when it leaves; nothing of ours is left then.
      if (leaving) return;
      // Before anything is done on a node. The stored object changes by this and comes back here.
      stores.configs.upsert(await deletion.hold(config, signal));
      return;
    }
    const report = reporter.open(config);
    report.continueRollout(rollout.continuedBy(config));
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
      const other = { message, isRunning: otherController.isRunning() };
      await reporter.standBack(config, other, signal);
      return { requeueAfterMs: askAgain() };
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
    const pause = await mayEdit({ config, spec, node, former }, report, signal);
    if (pause) return pause;
    if (former && !former.heir) return cleanFirst(former.node, report, signal);
    const task = { report, node, action: 'apply', contents: spec } as const;
    const progress = await nextRun(task, signal);
    return progress.done ? checkWhenDue(task) : progress;
  }

  function checkWhenDue(task: Task): Outcome | undefined {
    const { report, node } = task;
    const record = recordOf(report.config);
    // Its end was told a moment ago and is not written yet: nothing may be told over it.
    if (!record?.done) return { requeueAfterMs: 0 };
    if (pausedIn(report.config)) return undefined;
    const waitMs = check.dueAfterMs(task);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // After a boot nothing is known of the node; what is told of it is up to the check.
    if (hasBooted(record, machineOf(node))) report.drop();
    checkLater(keyOf(report.config));
    return undefined;
  }

  async function letGo(report: Report, signal: AbortSignal): Promise<Outcome | void> {
    const { config } = report;
    const target = findTarget(config, stores.nodeDirectory);
    report.about(acceptEntries([]), target.kind === 'node' ? target.name : undefined);
    const here = target.kind === 'node' ? target.node : undefined;
    const former = await formerNode(config, here, signal);
    if (former && !former.heir) {
      return (await mayClean(report, signal)) ?? cleanFirst(former.node, report, signal);
    }
    return here ? leaveNode(here, report, signal) : letGoWithoutNode(report, target, signal);
  }

  /** Lets the object go when its node is clean, or taken over by another object. */
  async function leaveNode(
    node: Node,
    report: Report,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    const { config } = report;
    const heir = successorOf(config, node, stores);
    // The heir's first run removes what this object leaves.
    if (heir && !losesToSuccessor(config, heir)) return release(report, signal);
    if (!heir && isOthers(config, node)) return release(report, signal);
    const pause = await mayClean(report, signal);
    if (pause) return pause;
    if (heir || isGone(config, node, clock.now()))
      return heir ? release(report, signal) : giveUp(node, report, signal);
    const progress = await clean(node, report, signal);
    return progress.done ? release(report, signal) : progress;
  }

  /** Lets an object go whose machine is gone. */
  async function giveUp({ metadata }: Node, report: Report, signal: AbortSignal): Promise<void> {
    const message = `the server of node ${metadata.name} is gone; NICs may remain on the machine`;
    reporter.warn(report.config, 'NodeGone', message);
    return release(report, signal);
  }

  /** Whether nothing on the node is this object's: others have changed it since, or it never did. */
  function isOthers(config: NodeConfig, node: Node): boolean {
    const record = recordOf(config);
    if (config.status?.applied?.undone || (record && records.later(record))) return true;
    if (isOn(config, node)) return false;
    return records
      .others(config, node.metadata.name)
      .some((other) => other.metadata.deletionTimestamp === undefined && isOn(other, node));
  }

  /** What happens to a node that the object does not mean any more wakes nobody. */
  async function cleanFirst(former: Node, report: Report, signal: AbortSignal): Promise<Outcome> {
    const progress = await clean(former, elsewhere(report, former), signal);
    return { requeueAfterMs: progress.done ? 0 : (progress.requeueAfterMs ?? askAgain()) };
  }

  /** Undefined when the object may be applied, whatever NICs leave a node by it. */
  async function mayEdit(input: RemovalInput, report: Report, signal: AbortSignal) {
    const loss = removalOf(input, records);
    if (loss) return ask(guard.askToEdit(input.config, loss), report, signal);
    guard.takesNothing(input.config);
    return undefined;
  }

  /** Undefined when the node of a deleted object may be cleaned. */
  async function mayClean(report: Report, signal: AbortSignal): Promise<Outcome | undefined> {
    return ask(await guard.askToDelete(report.config, signal), report, signal);
  }

  /** Undefined when NICs may leave; until then nothing of the node changes. */
  async function ask(
    leave: Consent,
    report: Report,
    signal: AbortSignal,
  ): Promise<Outcome | undefined> {
    if (leave.kind === 'granted') return undefined;
    if (leave.kind === 'early') return { requeueAfterMs: leave.forMs };
    await deletion.withdraw(report.config, signal);
    report.tell({ kind: 'refused', reason: 'RemovalHeld', message: leave.message });
    return { requeueAfterMs: askAgain() };
  }

  /** A record that says what is on the node no more, because another namespace's agent came after it. */
  function contestedBy(config: NodeConfig): { applied: Applied; message: string } | undefined {
    const applied = recordOf(config);
    const run = applied && records.later(applied);
    if (!run) return undefined;
    const { namespace, name } = run.config;
    const message = `Job ${run.name} of ${namespace}/${name} works on the node, too; it is applied again when that Job is gone`;
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
    return { requeueAfterMs: askAgain() };
  }

  /**
   * A Node that is missing does not prove that its machine is gone: `kubectl delete node` takes it away, and the kubelet
   * registers it again when it is started. The time of the deletion counts, so a restart of the controller prolongs nothing.
   */
  async function letGoWithoutNode(
    report: Report,
    target: Target,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    const { config } = report;
    if (target.kind === 'node') throw new Error('the node is there');
    if (target.reason !== 'NodeNotFound') return refuse(report, target, signal);
    if (!mayHaveNics(config)) return release(report, signal);
    const end = (deletedAt(config)?.getTime() ?? 0) + waitForNodeMs;
    const now = clock.now();
    const isAgreed = hasConsent(config, now) && endsWaitForNode(config.metadata);
    const leftMs = isAgreed ? 0 : end - now.getTime();
    if (leftMs <= 0) {
      // The server is asked: what was seen last may lag behind it.
      if (!(await deletion.nodeIsGone(config, signal))) return refuse(report, target, signal);
      const message = `${target.message}; the object goes, NICs may remain on the machine`;
      reporter.warn(config, 'NodeGone', message);
      return release(report, signal);
    }
    const until = rfc3339(new Date(end));
    const message = `${target.message}; the deleted object waits for it until ${until}, then it goes and NICs may remain; if the server is gone, annotate the object ${annotations.deleteConsent}=<RFC 3339 time>!`;
    const { requeueAfterMs } = await refuse(report, { ...target, message }, signal);
    return { requeueAfterMs: Math.min(leftMs, requeueAfterMs) };
  }

  function clean(node: Node, report: Report, signal: AbortSignal): Promise<Progress> {
    return nextRun({ report, node, action: 'cleanup', contents: nothing }, signal);
  }

  async function release(report: Report, signal: AbortSignal): Promise<void> {
    report.drop();
    const { config } = report;
    const record = recordOf(config);
    // Its heir shall not rely on what was done before this object came.
    if (record && !record.undone) await records.take(config, record.nodeName, signal);
    await deletion.release(config, signal);
    guard.gone(config);
  }

  async function refuse(report: Report, target: Target, signal: AbortSignal) {
    if (target.kind === 'none') {
      const { reason, message } = target;
      report.tell({ kind: 'refused', reason, message });
    }
    await deletion.withdraw(report.config, signal);
    return { requeueAfterMs: askAgain() };
  }

  return reconcile;
}

function waitFor({ metadata }: NodeConfig, report: Report): Outcome {
  const message = `${metadata.name}, which has NICs on the node, is being deleted and goes first`;
  report.tell({ kind: 'waiting', reason: 'WaitingForTurn', message, repeat: false });
  return { requeueAfterMs: lagPauseMs };
}

/** Whether there is evidence that the machine is gone, of which the Node is still there and not ready. */
function isGone(config: NodeConfig, node: Node, now: Date): boolean {
  return isReady(node) === false && hasConsent(config, now) && endsWaitForNode(config.metadata);
}

/** Whether NICs of the object may be on a node: an agent was sent, and no clean-up has ended since. */
function mayHaveNics(config: NodeConfig): boolean {
  const { applied, knownInterfaces = [], interfaceStatuses = [] } = config.status ?? {};
  const record = recordOf(config);
  if (record) return !isClean(record) && (!record.done || deliveredMacs(config).length > 0);
  const isConfigured = interfaceStatuses.some(({ status }) => status === 'Configured');
  return applied !== undefined || knownInterfaces.length > 0 || isConfigured;
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
function obstacleIn(situation: RunPhase): Failure | undefined {
  if (situation.kind === 'waiting') return situation;
  if (situation.kind === 'working') return situation.run.trouble;
  if (situation.kind !== 'ended') return undefined;
  if (situation.verdict.kind === 'failure') return situation.verdict;
  const { status, message } = readyIn(situation, []);
  return status === 'False' ? { reason: 'JobFailed', message } : undefined;
}
