import type { Clock } from '../../time/clock.ts';
import { type Applied, ended, recordOf } from '../jobs/applied.ts';
import { withdrawRuns } from '../jobs/obsolete-runs.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import type { Runner, RunOutcome } from '../jobs/runner.ts';
import { refOfConfig } from '../objects/stores.ts';
import type { Report } from '../status/report.ts';
import type { Rollout } from './rollout-budget.ts';

/**
 * Deletes waiting runs without permission, and reports the outcome of a run finished since. A running agent completes
 * its work. True if an outcome was reported.
 */
export type EndChanges = (report: Report, signal: AbortSignal) => Promise<boolean>;

interface EndChangesOptions {
  readonly runner: Pick<Runner, 'runsFor' | 'remove'>;
  readonly rollout: Pick<Rollout, 'withoutExcused' | 'ended'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Returns the record after a run with former contents: the present contents say nothing about the kept NICs. */
export function recordOfFormer(open: Applied, verdict: RunOutcome, now: Date): Applied {
  return ended(open, verdict, now, Object.keys(open.nics ?? {}));
}

export function createEndChanges({ runner, rollout, clock }: EndChangesOptions): EndChanges {
  return async (report, signal) => {
    const { config } = report;
    await withdrawRuns(runner, config, signal, ({ action }) => !prohibitionOf(config, action));
    const open = recordOf(config);
    const run = runner.runsFor(refOfConfig(config)).find(({ name }) => name === open?.job);
    if (!open || !run?.ended || open.done !== undefined || open.undone) return false;
    const { verdict } = run.ended;
    const at = clock.now();
    const record = recordOfFormer(rollout.withoutExcused(open), verdict, at);
    rollout.ended(record);
    report.tell({ kind: 'ended', job: open.job, verdict, at }, record);
    return true;
  };
}
