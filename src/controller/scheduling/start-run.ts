import { findCondition } from '../../api/condition.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, begun, recordOf } from '../jobs/applied.ts';
import { unreachable } from '../jobs/liveness.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import { requestOf } from '../jobs/request.ts';
import { isRecorded, withQueued } from '../jobs/run-basis.ts';
import { type AgentTask, type Run, type Runner, RunRefused } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { NodeRecords } from '../records/node-records.ts';
import { type Dispatch, turn } from './dispatch.ts';
import { type NodeChange, noChange, revisionsOf } from './node-change.ts';
import { lagPauseMs, waitingRequeueMs } from './requeue.ts';
import type { Rollout } from './rollout-budget.ts';
import { isAbout } from './schedule.ts';
import { type Progress, type Task, waiting } from './task.ts';
import type { TermsOf } from './terms.ts';

interface StartRunOptions {
  readonly runner: Pick<Runner, 'nameOf' | 'prepare' | 'start' | 'remove'>;
  readonly dispatch: Dispatch;
  readonly rollout: Pick<Rollout, 'changeOf' | 'hold'>;
  readonly termsOf: TermsOf;
  readonly records: Pick<NodeRecords, 'take'>;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  readonly clock: Pick<Clock, 'now'>;
}

const recordNotStored =
  'the cluster does not store status.applied: its CustomResourceDefinition is older than this controller; apply deploy/crds';

interface Start {
  readonly agentTask: AgentTask;
  readonly repeat: boolean;
  /** What the rollout budget counts. */
  readonly change: NodeChange;
}

/** Starts a run for the task if node, rollout and admission permit, and deletes earlier runs of the same content. */
type StartRun = (
  task: Task,
  agentTask: AgentTask,
  runs: readonly Run[],
  signal: AbortSignal,
) => Promise<Progress>;

export function createStartRun(options: StartRunOptions): StartRun {
  const { runner, dispatch, rollout, termsOf, records, facts, startDeadlineMs, clock } = options;

  async function start(
    task: Task,
    agentTask: AgentTask,
    runs: readonly Run[],
    signal: AbortSignal,
  ): Promise<Progress> {
    const { report, node } = task;
    const before = recordOf(report.config);
    // The attempt number is no evidence for a retry: the same content may be on a second machine.
    const repeat = before !== undefined && isAbout(before, agentTask);
    const failure = prohibitionOf(report.config, agentTask.action) ?? unreachable(node);
    if (failure) return waiting(report, failure, repeat);
    await queueRemovals(task, agentTask, { repeat, now: clock.now() }, signal);
    const isApply = agentTask.action === 'apply';
    const change = isApply ? rollout.changeOf(report.config, node, task.contents) : noChange;
    const revisions = revisionsOf(change);
    const counted = revisions.length > 0 ? { node, revisions } : undefined;
    const run = { agentTask, repeat, change };
    const why = await dispatch(agentTask, () => begin(task, run, signal), counted);
    if (why !== undefined) {
      // The share was taken meanwhile: the next visit applies what needs none.
      const isRefused = 'isStopped' in why && rollout.hold(report.config, node, task.contents);
      if (isRefused) return { done: false, requeueAfterMs: lagPauseMs };
      return { ...waiting(report, why, repeat), requeueAfterMs: waitingRequeueMs(why) };
    }
    await tidy(runner, { ...agentTask, name: runner.nameOf(agentTask) }, runs, signal);
    return { done: false, requeueAfterMs: startDeadlineMs };
  }

  /** Writes `status.applied` before the Job starts: after a crash the outcome is then "unknown", not "none". */
  async function begin(
    { report, ...task }: Task,
    { agentTask, repeat, change }: Start,
    signal: AbortSignal,
  ): Promise<void> {
    const run = await runner.prepare(agentTask, signal);
    // An earlier controller process may have prepared the Job for another network manager.
    const sent = { ...agentTask, family: run.family };
    const before = recordOf(report.config);
    const { contents, held, removals = [] } = task;
    const isOpen = before?.job === run.name && before.done === undefined && !before.undone;
    // A consent may arrive between the record and the start of a prepared Job.
    if (!isOpen || !isRecorded(before, removals)) {
      const { config } = report;
      const input = { config, contents, held, agentTask, before, removals, change };
      const terms = await termsOf(input, signal);
      const again = repeat || isRefusedFor(report.config, recordNotStored);
      report.tell(
        { kind: 'working', run, repeat: again },
        begun(sent, run.name, terms, clock.now()),
      );
      await report.write(signal);
    }
    const applied = recordOf(report.config);
    if (!isStored(applied, run.name, change)) throw new RunRefused(recordNotStored);
    const { config } = report;
    // The object's own record is stored before older records become undone: a changed node always has a record.
    await records.take(config, agentTask.node, signal);
    await runner.start(agentTask, requestOf(sent, { ...task, config }, applied, facts()), signal);
  }

  return start;
}

/** True if the record is the run's, with the settings that the budget counts: further nodes wait for them. */
function isStored(
  record: Applied | undefined,
  job: string,
  { settings }: NodeChange,
): record is Applied {
  return record?.job === job && (settings.length === 0 || record.settings !== undefined);
}

/**
 * Stores the removals of a run before it waits for its turn: from then on a consent holds for this content and its
 * retries, however long the queue is.
 */
async function queueRemovals(
  { report, removals = [] }: Task,
  agentTask: AgentTask,
  { repeat, now }: { readonly repeat: boolean; readonly now: Date },
  signal: AbortSignal,
): Promise<void> {
  const record = recordOf(report.config);
  if (removals.length === 0 || !record) return;
  const queued = withQueued(record, agentTask, removals, now);
  if (queued === record) return;
  report.tell({ kind: 'waiting', ...turn('the agent run is queued'), repeat }, queued);
  await report.write(signal);
}

/** Keeps the last finished run with this content for its log; the Job TTL deletes the rest. */
async function tidy(
  runner: Pick<Runner, 'remove'>,
  { content, name }: AgentTask & { readonly name: string },
  runs: readonly Run[],
  signal: AbortSignal,
): Promise<void> {
  const before = runs
    .filter((run) => run.phase === 'ended' && run.content === content && run.name !== name)
    .toSorted((a, b) => a.attempt - b.attempt);
  for (const run of before.slice(0, -1)) await runner.remove(run, signal);
}

/** True if the status already shows this message, so the retry emits no new event. */
function isRefusedFor({ status }: NodeConfig, message: string): boolean {
  return findCondition(status?.conditions, 'Ready')?.message === message;
}
