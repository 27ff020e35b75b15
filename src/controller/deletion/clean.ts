import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Random } from '../../time/clock.ts';
import { recordOf } from '../jobs/applied.ts';
import type { Gate, GateInput } from '../removals/gate.ts';
import { lostNics } from '../removals/losses.ts';
import type { NextRun } from '../scheduling/next-run.ts';
import type { Refuse } from '../scheduling/refuse.ts';
import { fallbackRequeueMs } from '../scheduling/requeue.ts';
import type { Report } from '../status/report.ts';

interface CleanUp extends Pick<GateInput, 'node' | 'contents' | 'cause'> {
  readonly report: Report;
  /** Report for the run (default: `report`). */
  readonly runReport?: Report;
}

/** Removes an object's NICs from a node, except NICs in the contents. Returns `clean`, or when to continue. */
export type Clean = (cleanUp: CleanUp, signal: AbortSignal) => Promise<Outcome | 'clean'>;

export interface CleanOptions {
  readonly gate: Pick<Gate, 'decide'>;
  readonly nextRun: NextRun;
  readonly refuse: Refuse;
  readonly random: Random;
}

export function createClean({ gate, nextRun, refuse, random }: CleanOptions): Clean {
  async function clean(cleanUp: CleanUp, signal: AbortSignal): Promise<Outcome | 'clean'> {
    const { report, runReport = report, node, contents, cause } = cleanUp;
    const task = { node, action: 'cleanup', contents } as const;
    const decision = await gate.decide({ config: report.config, cause, ...task }, signal);
    if (decision.kind === 'early') return { requeueAfterMs: decision.forMs };
    const { removals, held, status } = decision;
    report.hold({ message: held, status });
    if (held !== undefined && removals.length === 0) return hold(report, held, signal);
    const progress = await nextRun({ ...task, removals, report: runReport }, signal);
    return progress.done ? afterRun(cleanUp, held, signal) : progress;
  }

  /** `held`: message about NICs that stay; undefined: none is held. */
  async function afterRun(
    { report, contents }: CleanUp,
    held: string | undefined,
    signal: AbortSignal,
  ): Promise<Outcome | 'clean'> {
    // The run's outcome was just reported and is not stored yet.
    if (!recordOf(report.config)?.done) return { requeueAfterMs: 0 };
    if (!lostNics(report.config, contents)?.length) return 'clean';
    return held === undefined
      ? { requeueAfterMs: fallbackRequeueMs(random) }
      : hold(report, held, signal);
  }

  /** Reports that NICs stay until consent; the node stays unchanged. */
  function hold(report: Report, message: string, signal: AbortSignal): Promise<Outcome> {
    return refuse(report, { reason: 'RemovalHeld', message }, signal);
  }

  return clean;
}
