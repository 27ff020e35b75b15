import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import type { Failure } from '../jobs/runner.ts';
import { type ControllerMetrics, outcomeLabel } from '../status/report.ts';
import { isForApply } from './check-findings.ts';
import type { Confirmations } from './confirmations.ts';
import { checkedAs, isHealAsked } from './drift.ts';
import { type DriftCheck, type DriftPolicy, heal } from './drift-check.ts';
import type { FailingChecks } from './failing-checks.ts';

interface CheckFailuresOptions {
  readonly failingChecks: FailingChecks;
  readonly confirmations: Confirmations;
  readonly clock: Clock;
  readonly metrics: Pick<ControllerMetrics, 'count'>;
  readonly policy: DriftPolicy;
}

/** Failed checks, and the pauses after them. */
export interface CheckFailures {
  /** Counts a failure; `ended` is undefined for a run that never existed. */
  note(check: DriftCheck, failure: Failure, ended?: string): void;
  /** Reports the last failure until the next attempt; undefined: the next attempt is due. */
  paused(check: DriftCheck): Outcome | undefined;
}

export function createCheckFailures(options: CheckFailuresOptions): CheckFailures {
  const { failingChecks, confirmations, clock, metrics, policy } = options;
  return {
    note({ key, desired: { content } }, failure, ended) {
      confirmations.failed(key);
      failingChecks.note(key, content, failure, ended);
      metrics.count('multinic_job_results_total', {
        outcome: outcomeLabel({ kind: 'failure', ...failure }),
      });
    },
    paused({ key, task, applied, occasion, desired, booted }) {
      const last = failingChecks.of(key, desired.content);
      if (!last) return undefined;
      const { failure } = last;
      const heals = policy === 'heal' || isHealAsked(applied, occasion);
      if (!prohibitionOf(task.report.config, 'apply') && isForApply(failure, heals)) {
        return heal(task, checkedAs(applied, occasion, clock.now()));
      }
      const left = last.until - clock.monotonicMs();
      if (left <= 0) return undefined;
      const unknown = { type: 'Drifted', status: 'Unknown', ...failure } as const;
      const situation = booted
        ? ({ kind: 'waiting', repeat: false, ...failure } as const)
        : ({ kind: 'recorded' } as const);
      task.report.tell(situation, undefined, unknown);
      return { requeueAfterMs: left };
    },
  };
}
