import { type ConditionUpdate, findCondition } from '../../api/condition.ts';
import type { JobResult } from '../../api/job.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { appliedContent } from '../scheduling/terms.ts';
import { asApplied } from '../status/conditions.ts';
import { type ControllerMetrics, outcomeLabel } from '../status/report.ts';
import type { RunPhase } from '../status/run-phase.ts';
import { comparedOthers, observedContent } from './check-basis.ts';
import { drifted, driftIn, knownFromCheck, undone } from './check-findings.ts';
import type { Confirmations } from './confirmations.ts';
import { checkedAs, hasEvents, isHealAsked, pauseOf } from './drift.ts';
import type { DriftCheck, DriftPolicy } from './drift-check.ts';

export interface ConcludeOptions {
  readonly runner: Pick<Runner, 'remove'>;
  readonly confirmations: Confirmations;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Pick<ControllerMetrics, 'count'>;
  /** Returns the pause between two checks of a node, without jitter. */
  readonly intervalMs: () => number;
  readonly policy: DriftPolicy;
}

/** Reports the result of a check, unless the status has the same result already. */
export type Conclude = (
  check: DriftCheck,
  result: JobResult,
  run: Run,
  signal: AbortSignal,
) => Promise<Outcome>;

export function createConclude(options: ConcludeOptions): Conclude {
  const { runner, confirmations, clock, metrics, intervalMs, policy } = options;
  return async (check, result, run, signal) => {
    const { task, key, applied, occasion } = check;
    metrics.count('multinic_job_results_total', {
      outcome: outcomeLabel({ kind: 'result', result }),
    });
    const confirmed = confirmedBy(check, { result, run, now: clock.now() });
    const reasons = driftIn(result);
    const differs = reasons.length > 0;
    const heals = policy === 'heal' || isHealAsked(applied, occasion);
    const record = differs && heals ? undone(confirmed, reasons) : confirmed;
    const condition = differs ? drifted(result) : asApplied;
    const isShown = record.done && isComplete(check) && shows(task.report.config, condition);
    if (isShown && confirmations.repeats(key, applied, result)) {
      await runner.remove(run, signal);
      return { requeueAfterMs: pauseOf(applied, intervalMs()) };
    }
    const { nics, known } = result;
    const checked: RunPhase = { kind: 'recorded', check: { nics, known, at: clock.now() } };
    task.report.tell(checked, record, condition);
    confirmations.wrote(key, record, result);
    return { requeueAfterMs: record.done ? pauseOf(record, intervalMs()) : 0 };
  };
}

/** Returns the record with the check, whatever its result. */
function confirmedBy(
  { task, applied, occasion }: DriftCheck,
  { result, run, now }: { readonly result: JobResult; readonly run: Run; readonly now: Date },
) {
  const { report, node, contents } = task;
  return {
    // Records of earlier versions do not name the applied content, which the check confirms.
    ...appliedContent({ config: report.config, contents }, applied),
    ...checkedAs(applied, occasion, now),
    ...knownFromCheck(applied, result, run.name),
    ...(comparedOthers(applied, task) ? { checkedContent: observedContent(node, contents) } : {}),
  };
}

/** True if the record has these events, names the applied content, and includes no check with different contents. */
function isComplete({ task, applied, occasion }: DriftCheck): boolean {
  const isNamed = applied.shared !== undefined && !comparedOthers(applied, task);
  return isNamed && hasEvents(applied, occasion);
}

/** True if the status has this condition, with status and reason. */
export function shows(
  { status: now }: NodeConfig,
  { type, status, reason }: ConditionUpdate,
): boolean {
  const found = findCondition(now?.conditions, type);
  return found?.status === status && found.reason === reason;
}
