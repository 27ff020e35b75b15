import type { Random } from '../../time/clock.ts';
import type { Applied } from '../jobs/applied.ts';
import { withdrawRuns } from '../jobs/obsolete-runs.ts';
import type { Failure, Runner } from '../jobs/runner.ts';
import type { Report } from '../status/report.ts';
import { fallbackRequeueMs } from './requeue.ts';

/**
 * Reports why no agent may start, and deletes the object's runs that have not started. Returns when to decide again.
 * `applied`: new record; undefined: unchanged.
 */
export type Refuse = (
  report: Report,
  why: Failure,
  signal: AbortSignal,
  applied?: Applied,
) => Promise<{ readonly requeueAfterMs: number }>;

export function createRefuse(runner: Pick<Runner, 'runsFor' | 'remove'>, random: Random): Refuse {
  return async (report, { reason, message }, signal, applied) => {
    report.tell({ kind: 'refused', reason, message }, applied);
    await withdrawRuns(runner, report.config, signal);
    return { requeueAfterMs: fallbackRequeueMs(random) };
  };
}
