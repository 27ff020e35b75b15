import type { Clock } from '../../time/clock.ts';
import { ended, recordOf } from '../jobs/applied.ts';
import { isNews } from '../jobs/family.ts';
import type { ControllerMetrics } from '../status/report.ts';
import { turn } from './dispatch.ts';
import type { Rollout } from './rollout-budget.ts';
import type { ObservedRun } from './schedule.ts';
import type { Task } from './task.ts';

interface ReportOutcomeOptions {
  readonly rollout: Pick<Rollout, 'withoutExcused' | 'ended'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Pick<ControllerMetrics, 'count'>;
}

/** Reports a finished run with its record; `observed` is undefined if the status has the outcome already. */
export type ReportOutcome = (task: Task, observed: ObservedRun | undefined) => void;

export function createReportOutcome(options: ReportOutcomeOptions): ReportOutcome {
  const { rollout, clock, metrics } = options;
  return ({ report, contents }, observed) => {
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
  };
}
