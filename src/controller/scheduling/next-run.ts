import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import type { RecordAges } from '../jobs/record-ages.ts';
import { contentHash } from '../jobs/request.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { NodeRecords } from '../records/node-records.ts';
import type { ControllerMetrics } from '../status/report.ts';
import { type Dispatch, turn } from './dispatch.ts';
import { recordOfFormer } from './end-changes.ts';
import { createFollowRun } from './follow-run.ts';
import type { IsCurrent } from './is-current.ts';
import { createReportOutcome } from './report-outcome.ts';
import { lagPauseMs, waitingRequeueMs } from './requeue.ts';
import type { Refusal } from './rollout.ts';
import type { Rollout } from './rollout-budget.ts';
import { decide, type ObservedRun } from './schedule.ts';
import { createStartRun } from './start-run.ts';
import { agentTaskFor, type Progress, runsOf, type Task, waiting } from './task.ts';
import { createTermsOf } from './terms.ts';

export interface NextRunOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly rollout: Rollout;
  readonly isCurrent: IsCurrent;
  readonly records: Pick<NodeRecords, 'take'>;
  /** Version of this controller. */
  readonly version: string;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  readonly ages: RecordAges;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
}

export type NextRun = (task: Task, signal: AbortSignal) => Promise<Progress>;

/** Takes the next step for a task: starts, follows, retries or removes agent runs, and sets the status phase. */
export function createNextRun(options: NextRunOptions): NextRun {
  const { runner, rollout, ages, clock } = options;
  const reportOutcome = createReportOutcome(options);
  const start = createStartRun({ ...options, termsOf: createTermsOf(options) });
  const follow = createFollowRun({ ...options, reportOutcome });

  /** Reports a former content's run: the next contents depend on the configured NICs. */
  function closesFormer({ report, action }: Task, content: string, runs: readonly Run[]): boolean {
    const open = recordOf(report.config);
    const run = runs.find(({ name }) => name === open?.job);
    if (action !== 'apply' || !open || !run?.ended || isClosed(open, content)) return false;
    const why = turn(`Job ${open.job}, started before the last change, has ended`);
    const record = recordOfFormer(rollout.withoutExcused(open), run.ended.verdict, clock.now());
    report.tell({ kind: 'waiting', ...why, repeat: false }, record);
    return true;
  }

  /** Returns the next step if no run starts or continues; undefined: the records and runs decide. */
  function withoutRun(task: Task, content: string, runs: readonly Run[]): Progress | undefined {
    if (closesFormer(task, content, runs)) return { done: false, requeueAfterMs: 0 };
    const { held, removals = [], report } = task;
    if (!held?.isApplied || removals.length > 0) return undefined;
    return runs.some(isOpenApply) ? undefined : heldBack(report, held.why);
  }

  function recordWithAge(config: NodeConfig): [Applied | undefined, number] {
    const applied = recordOf(config);
    return [applied, applied ? ages.of(keyOf(config), applied) : 0];
  }

  function finish(task: Task, observed: ObservedRun | undefined): Progress {
    const why = task.held?.why;
    if (why && !observed) return heldBack(task.report, why);
    reportOutcome(task, observed);
    return why ? { done: false, requeueAfterMs: lagPauseMs } : { done: true };
  }

  return async (task, signal) => {
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
    const early = withoutRun(task, content, runs);
    if (early) return early;
    const next = decide(desired, runs, ...recordWithAge(report.config));
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
        return finish(task, next.observed);
      default:
        return next satisfies never;
    }
  };
}

/** True if the record has an outcome, is about this content, or is no longer in force. */
function isClosed({ done, undone = false, content: of }: Applied, content: string): boolean {
  return done !== undefined || undone || of === content;
}

function isOpenApply({ action, phase }: Run): boolean {
  return action === 'apply' && phase !== 'ended';
}

/** Reports a change waiting for the rollout. */
function heldBack(report: Task['report'], why: Refusal): Progress {
  return { ...waiting(report, why), requeueAfterMs: waitingRequeueMs(why) };
}
