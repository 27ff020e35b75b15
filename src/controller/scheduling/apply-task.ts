import { findCondition } from '../../api/condition.ts';
import type { JobAction } from '../../api/job.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { nodeEventsOf } from '../drift/drift.ts';
import {
  type Applied,
  begun,
  ended,
  familyFor,
  type RecordAges,
  recordOf,
} from '../jobs/applied.ts';
import { withSilentNics } from '../jobs/evidence.ts';
import { isNews } from '../jobs/family.ts';
import { healthOf, unreachable } from '../jobs/liveness.ts';
import { type Contents, contentHash, protocolFor, requestOf } from '../jobs/request.ts';
import { type AgentTask, type Failure, type Run, type Runner, RunRefused } from '../jobs/runner.ts';
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

/** What an agent is to bring about on a node for an object. */
export interface Task {
  readonly report: Report;
  readonly node: Node;
  readonly action: JobAction;
  readonly contents: Contents;
}

export interface Progress extends Outcome {
  readonly done: boolean;
}

export interface NextRunOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly rollout: Rollout;
  /** Whether the server still has this state of the object, asked now. */
  readonly isCurrent: (config: NodeConfig, signal: AbortSignal) => Promise<boolean>;
  readonly records: Pick<NodeRecords, 'take'>;
  readonly startDeadlineMs: number;
  readonly ages: RecordAges;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
}

const recordNotKept =
  'the cluster does not keep status.applied: its CustomResourceDefinition is older than this controller, apply deploy/crds';

/** Who waits for its turn is woken when another run ends; this finds what nobody told. */
export const requeueMs = 30_000;

/** A stopped rollout wakes its objects when it goes on. */
const lookAtStoppedMs = 300_000;

interface Start {
  readonly order: AgentTask;
  readonly repeat: boolean;
  /** Whether the rollout budget counts the run. */
  readonly isBudgeted: boolean;
}

export type NextRun = (task: Task, signal: AbortSignal) => Promise<Progress>;

/** Takes the next step of a task: starts, waits for, repeats or takes back runs of the agent, and tells of it. */
export function createNextRun(options: NextRunOptions): NextRun {
  const { runner, dispatch, rollout, records, startDeadlineMs, ages, clock, metrics } = options;
  const termsOf = createTermsOf(options);

  async function nextRun(task: Task, signal: AbortSignal): Promise<Progress> {
    const { node, action, contents, report } = task;
    const content = contentHash(node, contents);
    const desired = {
      generation: report.config.metadata.generation ?? 0,
      action,
      content,
      machine: machineOf(node),
    };
    const runs = runsOf(runner, task, content);
    const applied = recordOf(report.config);
    const next = decide(desired, runs, applied, ageOf(report, applied));
    switch (next.kind) {
      case 'start': {
        const { attempt, generation } = next;
        const order = agentTask(task, { ...desired, attempt, generation });
        return start(task, order, runs, signal);
      }
      case 'remove':
        await runner.remove(next.run, signal);
        return waiting(report, turn(`${next.run.name} is out of date and is taken back`));
      case 'wait':
        return next.current
          ? follow(task, next.run, signal)
          : waiting(report, turn(`${next.run.name}, sent before the last change, is at work`));
      case 'pause':
        tellEnd(task, next.seen);
        return { done: false, requeueAfterMs: next.forMs };
      case 'done':
        tellEnd(task, next.seen);
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
    order: AgentTask,
    runs: readonly Run[],
    signal: AbortSignal,
  ): Promise<Progress> {
    const { report, node } = task;
    const before = recordOf(report.config);
    // A number says nothing here either: the same content may be on its second machine.
    const repeat = before !== undefined && isAbout(before, order);
    const failure = pausedIn(report.config) ?? unreachable(node);
    if (failure) return waiting(report, failure, repeat);
    const revision = rollout.revisionOf(report.config);
    const change = isBudgeted(report.config, order, revision) ? { node, revision } : undefined;
    const run = { order, repeat, isBudgeted: change !== undefined };
    const why = await dispatch(order, () => begin(task, run, signal), change);
    if (why !== undefined) {
      const isStopped = 'isStopped' in why && why.isStopped;
      const requeueAfterMs = isStopped ? lookAtStoppedMs : requeueMs;
      return { ...waiting(report, why, repeat), requeueAfterMs };
    }
    await tidy({ ...order, name: runner.nameOf(order) }, runs, signal);
    return { done: false, requeueAfterMs: startDeadlineMs };
  }

  /** Recorded before it can begin: of a run that nobody saw end the record says that nobody knows. */
  async function begin(
    { report, ...task }: Task,
    { order, repeat, isBudgeted: counts }: Start,
    signal: AbortSignal,
  ): Promise<void> {
    const run = await runner.prepare(order, signal);
    // An earlier life of this process may have made it for another one.
    const sent = { ...order, family: run.family };
    const before = recordOf(report.config);
    if (before?.job !== run.name || before.done !== undefined || before.undone) {
      const { config } = report;
      const { contents } = task;
      const input = { config, contents, order, before, isBudgeted: counts };
      const terms = await termsOf(input, signal);
      const again = repeat || isRefusedFor(report.config, recordNotKept);
      report.tell(
        { kind: 'working', run, repeat: again },
        begun(sent, run.name, terms, clock.now()),
      );
      await report.write(signal);
    }
    const applied = recordOf(report.config);
    if (applied?.job !== run.name) throw new RunRefused(recordNotKept);
    const { config } = report;
    // Its own record stands by now: of a node that is changed there is always one.
    await records.take(config, order.node, signal);
    await runner.start(order, requestOf(sent, { ...task, config }, applied), signal);
  }

  /** Withdraws what can never begin, puts back what was taken from it, else waits. */
  async function follow(task: Task, run: Run, signal: AbortSignal): Promise<Progress> {
    const { report, node } = task;
    const known = recordOf(report.config);
    const applied = known?.job === run.name ? known : undefined;
    // Given up already; it has to end before anything else may begin.
    if (applied?.done !== undefined) return recorded(report);
    const shown = { ...run, trouble: run.trouble ?? unreachable(node) };
    // What began it has told already what holds.
    const repeat = run.attempt > 1;
    report.tell({ kind: 'working', run: shown, repeat }, applied ?? unrecorded(run, task));
    return applied ? tend(task, run, applied, signal) : { done: false };
  }

  async function tend(
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
      tellEnd(task, { job: run.name, verdict: { kind: 'failure', ...health.failure } });
      return { done: false };
    }
    if (health.kind === 'slow') {
      const { config } = task.report;
      await runner.start(run, requestOf(run, { ...task, config }, applied), signal);
    }
    return { done: false, requeueAfterMs: health.forMs };
  }

  /** For a run whose record somebody took away with the status. */
  function unrecorded(run: Run, { contents, report: { config } }: Task): Applied {
    const terms = { protocol: protocolFor(contents), revision: rollout.revisionOf(config) };
    return begun(run, run.name, terms, clock.now());
  }

  function tellEnd({ report, contents }: Task, seen: ObservedRun | undefined): void {
    if (!seen) return report.tell({ kind: 'recorded' });
    const now = clock.now();
    const applied = recordOf(report.config);
    const record =
      applied && ended(rollout.withoutExcused(applied), seen.verdict, now, contents.keep);
    if (record) rollout.ended(record);
    if (!record || !isNews(record.foundFamily, record)) {
      return report.tell({ kind: 'ended', ...seen, at: now }, record);
    }
    // Nothing was done, and nobody has to do anything: it is told of when the next one has ended.
    metrics.count('multinic_job_results_total', { outcome: 'failed' });
    const message = `the node is of the family ${record.foundFamily}: another agent is sent for that`;
    report.tell({ kind: 'waiting', ...turn(message), repeat: record.attempt > 1 }, record);
  }

  /** The last one of this content that ended is kept for its log; the rest goes by itself in time. */
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

/** The runs of an object; one of this content is judged by what it was asked for. */
export function runsOf(
  runner: Runner,
  { report: { config }, contents }: Task,
  content: string,
): readonly Run[] {
  return runner
    .runsFor(refOfConfig(config))
    .filter(({ uid }) => uid === config.metadata.uid)
    .map((run) => (run.content === content ? withSilentNics(run, contents.interfaces) : run));
}

export function agentTask(
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

/** Whether its status says just that: the next try says nothing new. */
function isRefusedFor({ status }: NodeConfig, message: string): boolean {
  return findCondition(status?.conditions, 'Ready')?.message === message;
}

function waiting(report: Report, why: Failure | Refusal, repeat = false): Progress {
  report.tell({ kind: 'waiting', ...why, repeat });
  return { done: false };
}
