import { findCondition } from '../../api/condition.ts';
import { type JobAction, protocol as newestProtocol } from '../../api/job.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import {
  type Applied,
  begun,
  ended,
  familyFor,
  type RecordAges,
  recordOf,
} from '../jobs/applied.ts';
import { withMissingNics } from '../jobs/evidence.ts';
import { isNews } from '../jobs/family.ts';
import { healthOf, unreachable } from '../jobs/liveness.ts';
import { nodeEventsOf } from '../jobs/node-events.ts';
import { type Contents, contentHash, requestOf } from '../jobs/request.ts';
import { type AllowedRemoval, isRecorded, withQueued } from '../jobs/run-basis.ts';
import { type AgentTask, type Failure, type Run, type Runner, RunRefused } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import { machineOf, systemUuidOf } from '../objects/machine.ts';
import { type NodeConfig, refOfConfig } from '../objects/stores.ts';
import type { NodeRecords } from '../records/node-records.ts';
import { pausedIn } from '../status/paused.ts';
import type { ControllerMetrics, Report } from '../status/report.ts';
import { type Dispatch, turn } from './dispatch.ts';
import { isBudgeted } from './revision.ts';
import type { Refusal, Rollout } from './rollout-budget.ts';
import { decide, isAbout, type ObservedRun } from './schedule.ts';
import { createTermsOf } from './terms.ts';

/** Work for an agent: action and contents for one node and one object. */
export interface Task {
  readonly report: Report;
  readonly node: Node;
  readonly action: JobAction;
  readonly contents: Contents;
  /** Removals that the run may make, as the gate decided; undefined: none. */
  readonly removals?: readonly AllowedRemoval[];
}

export interface Progress extends Outcome {
  readonly done: boolean;
}

export interface NextRunOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly rollout: Rollout;
  /** Reads the object from the API server; true if uid and generation are unchanged. */
  readonly isCurrent: (config: NodeConfig, signal: AbortSignal) => Promise<boolean>;
  readonly records: Pick<NodeRecords, 'take'>;
  /** Version of this controller. */
  readonly version: string;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  readonly ages: RecordAges;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
}

const recordNotStored =
  'the cluster does not store status.applied: its CustomResourceDefinition is older than this controller; apply deploy/crds';

/** Fallback requeue for queued objects; normally the end of another run wakes the object earlier. */
export const requeueMs = 30_000;

/** Fallback requeue during a stopped rollout, which wakes its objects on resume. */
const stoppedRequeueMs = 300_000;

interface Start {
  readonly agentTask: AgentTask;
  readonly repeat: boolean;
  /** True if the rollout budget counts the run. */
  readonly isBudgeted: boolean;
}

export type NextRun = (task: Task, signal: AbortSignal) => Promise<Progress>;

/** Takes the next step for a task: starts, follows, retries or removes agent runs, and sets the status phase. */
export function createNextRun(options: NextRunOptions): NextRun {
  const { runner, dispatch, rollout, records, facts, startDeadlineMs, ages, clock, metrics } =
    options;
  const termsOf = createTermsOf(options);

  async function nextRun(task: Task, signal: AbortSignal): Promise<Progress> {
    const { node, action, contents, report } = task;
    const content = contentHash(node, contents);
    const desired = {
      generation: report.config.metadata.generation ?? 0,
      action,
      content,
      machine: machineOf(node),
      removals: task.removals ?? [],
    };
    const runs = runsOf(runner, task, content);
    const applied = recordOf(report.config);
    const next = decide(desired, runs, applied, ageOf(report, applied));
    switch (next.kind) {
      case 'start': {
        const { attempt, generation } = next;
        const agentTask = agentTaskFor(task, { ...desired, attempt, generation });
        return start(task, agentTask, runs, signal);
      }
      case 'remove':
        await runner.remove(next.run, signal);
        return waiting(report, turn(`Job ${next.run.name} is outdated and is being deleted`));
      case 'wait':
        return next.current
          ? follow(task, next.run, signal)
          : waiting(
              report,
              turn(`Job ${next.run.name}, started before the last change, is still running`),
            );
      case 'pause':
        reportOutcome(task, next.observed);
        return { done: false, requeueAfterMs: next.forMs };
      case 'done':
        reportOutcome(task, next.observed);
        return { done: true };
      default:
        return next satisfies never;
    }
  }

  function ageOf({ config }: Report, applied: Applied | undefined): number {
    return applied ? ages.of(keyOf(config), applied) : 0;
  }

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
    const failure = pausedIn(report.config) ?? unreachable(node);
    if (failure) return waiting(report, failure, repeat);
    await queueRemovals(task, agentTask, repeat, signal);
    const revision = rollout.revisionOf(report.config);
    const change = isBudgeted(report.config, agentTask, revision) ? { node, revision } : undefined;
    const run = { agentTask, repeat, isBudgeted: change !== undefined };
    const why = await dispatch(agentTask, () => begin(task, run, signal), change);
    if (why !== undefined) {
      const isStopped = 'isStopped' in why && why.isStopped;
      const requeueAfterMs = isStopped ? stoppedRequeueMs : requeueMs;
      return { ...waiting(report, why, repeat), requeueAfterMs };
    }
    await tidy({ ...agentTask, name: runner.nameOf(agentTask) }, runs, signal);
    return { done: false, requeueAfterMs: startDeadlineMs };
  }

  /**
   * Stores the removals of a run before it waits for its turn: from then on a consent holds for this content and its
   * retries, however long the queue is.
   */
  async function queueRemovals(
    { report, removals = [] }: Task,
    agentTask: AgentTask,
    repeat: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const record = recordOf(report.config);
    if (removals.length === 0 || !record) return;
    const queued = withQueued(record, agentTask, removals, clock.now());
    if (queued === record) return;
    report.tell({ kind: 'waiting', ...turn('the agent run is queued'), repeat }, queued);
    await report.write(signal);
  }

  /** Writes `status.applied` before the Job starts: after a crash the outcome is then "unknown", not "none". */
  async function begin(
    { report, ...task }: Task,
    { agentTask, repeat, isBudgeted: counts }: Start,
    signal: AbortSignal,
  ): Promise<void> {
    const run = await runner.prepare(agentTask, signal);
    // An earlier controller process may have prepared the Job for another network manager.
    const sent = { ...agentTask, family: run.family };
    const before = recordOf(report.config);
    const { contents, removals = [] } = task;
    const isOpen = before?.job === run.name && before.done === undefined && !before.undone;
    // A consent may arrive between the record and the start of a prepared Job.
    if (!isOpen || !isRecorded(before, removals)) {
      const { config } = report;
      const input = { config, contents, agentTask, before, removals, isBudgeted: counts };
      const terms = await termsOf(input, signal);
      const again = repeat || isRefusedFor(report.config, recordNotStored);
      report.tell(
        { kind: 'working', run, repeat: again },
        begun(sent, run.name, terms, clock.now()),
      );
      await report.write(signal);
    }
    const applied = recordOf(report.config);
    if (applied?.job !== run.name) throw new RunRefused(recordNotStored);
    const { config } = report;
    // The object's own record is stored before older records become undone: a changed node always has a record.
    await records.take(config, agentTask.node, signal);
    await runner.start(agentTask, requestOf(sent, { ...task, config }, applied, facts()), signal);
  }

  /** Deletes a run that cannot start, repairs a slow run, otherwise waits. */
  async function follow(task: Task, run: Run, signal: AbortSignal): Promise<Progress> {
    const { report, node } = task;
    const known = recordOf(report.config);
    const applied = known?.job === run.name ? known : undefined;
    // The run already failed and is being removed; it must end before a new run starts.
    if (applied?.done !== undefined) return recorded(report);
    const shown = { ...run, trouble: run.trouble ?? unreachable(node) };
    // The first start already set the phase.
    const repeat = run.attempt > 1;
    report.tell({ kind: 'working', run: shown, repeat }, applied ?? unrecorded(run, task));
    return applied ? supervise(task, run, applied, signal) : { done: false };
  }

  async function supervise(
    task: Task,
    run: Run,
    applied: Applied,
    signal: AbortSignal,
  ): Promise<Progress> {
    const recordAgeMs = ageOf(task.report, applied);
    const health = healthOf(run, { startDeadlineMs, recordAgeMs });
    if (health.kind === 'fine') return { done: false };
    if (health.kind === 'late') {
      await runner.remove(run, signal);
      reportOutcome(task, { job: run.name, verdict: { kind: 'failure', ...health.failure } });
      return { done: false };
    }
    if (health.kind === 'slow') {
      const { config } = task.report;
      await runner.start(run, requestOf(run, { ...task, config }, applied, facts()), signal);
    }
    return { done: false, requeueAfterMs: health.forMs };
  }

  /** Builds a record for a running Job whose `status.applied` was deleted. */
  function unrecorded(run: Run, { report: { config } }: Task): Applied {
    const terms = { protocol: newestProtocol, revision: rollout.revisionOf(config) } as const;
    return begun(run, run.name, terms, clock.now());
  }

  function reportOutcome({ report, contents }: Task, observed: ObservedRun | undefined): void {
    if (!observed) return report.tell({ kind: 'recorded' });
    const now = clock.now();
    const applied = recordOf(report.config);
    const record =
      applied && ended(rollout.withoutExcused(applied), observed.verdict, now, contents.keep);
    if (record) rollout.ended(record);
    if (!record || !isNews(record.foundFamily, record)) {
      return report.tell({ kind: 'ended', ...observed, at: now }, record);
    }
    // The run changed nothing and needs no user action: the next run's outcome is reported instead.
    metrics.count('multinic_job_results_total', { outcome: 'failed' });
    const message = `the node uses ${record.foundFamily}: an agent for ${record.foundFamily} is started`;
    report.tell({ kind: 'waiting', ...turn(message), repeat: record.attempt > 1 }, record);
  }

  /** Keeps the last finished run with this content for its log; the Job TTL deletes the rest. */
  async function tidy(
    { content, name }: AgentTask & { readonly name: string },
    runs: readonly Run[],
    signal: AbortSignal,
  ): Promise<void> {
    const before = runs
      .filter((run) => run.phase === 'ended' && run.content === content && run.name !== name)
      .toSorted((a, b) => a.attempt - b.attempt);
    for (const run of before.slice(0, -1)) await runner.remove(run, signal);
  }

  return nextRun;
}

/**
 * Returns the object's runs. Runs with the current content also get failures for requested NICs missing in the result.
 */
export function runsOf(
  runner: Runner,
  { report: { config }, contents }: Task,
  content: string,
): readonly Run[] {
  return runner
    .runsFor(refOfConfig(config))
    .filter(({ uid }) => uid === config.metadata.uid)
    .map((run) => (run.content === content ? withMissingNics(run, contents.interfaces) : run));
}

export function agentTaskFor(
  { report: { config }, node }: Task,
  rest: Pick<AgentTask, 'action' | 'attempt' | 'generation' | 'content' | 'machine'>,
): AgentTask {
  return {
    ...rest,
    uid: config.metadata.uid ?? '',
    occasion: nodeEventsOf(config, node),
    family: familyFor(rest.machine, recordOf(config)),
    node: node.metadata.name,
    instance: systemUuidOf(node) ?? '',
    config: refOfConfig(config),
  };
}

function recorded(report: Report): Progress {
  report.tell({ kind: 'recorded' });
  return { done: false };
}

/** True if the status already shows this message, so the retry emits no new event. */
function isRefusedFor({ status }: NodeConfig, message: string): boolean {
  return findCondition(status?.conditions, 'Ready')?.message === message;
}

function waiting(report: Report, why: Failure | Refusal, repeat = false): Progress {
  report.tell({ kind: 'waiting', ...why, repeat });
  return { done: false };
}
