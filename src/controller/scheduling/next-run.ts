import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { type RecordAges, recordOf } from '../jobs/applied.ts';
import { contentHash } from '../jobs/request.ts';
import type { Runner } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeRecords } from '../records/node-records.ts';
import type { ControllerMetrics } from '../status/report.ts';
import { type Dispatch, turn } from './dispatch.ts';
import { createFollowRun } from './follow-run.ts';
import type { IsCurrent } from './is-current.ts';
import { createReportOutcome } from './report-outcome.ts';
import type { Rollout } from './rollout-budget.ts';
import { decide } from './schedule.ts';
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
  const { runner, ages } = options;
  const reportOutcome = createReportOutcome(options);
  const start = createStartRun({ ...options, termsOf: createTermsOf(options) });
  const follow = createFollowRun({ ...options, reportOutcome });

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
    const applied = recordOf(report.config);
    const ageMs = applied ? ages.of(keyOf(report.config), applied) : 0;
    const next = decide(desired, runs, applied, ageMs);
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
  };
}
