import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import { RecordAges } from '../jobs/record-ages.ts';
import type { Runner } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { Dispatch } from '../scheduling/dispatch.ts';
import type { Task } from '../scheduling/task.ts';
import { isDrifted } from '../status/conditions.ts';
import type { ControllerMetrics } from '../status/report.ts';
import { checkBasisOf } from './check-basis.ts';
import { checkDue } from './check-due.ts';
import { createCheckFailures } from './check-failures.ts';
import { createCheckRun } from './check-run.ts';
import { type Conclude, createConclude } from './conclude.ts';
import { createConcludeObserved } from './conclude-observed.ts';
import { Confirmations } from './confirmations.ts';
import { type DriftPolicy, heal } from './drift-check.ts';
import { FailingChecks } from './failing-checks.ts';
import { StartedChecks } from './started-checks.ts';

export interface CheckOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  /** Returns the pause between two checks of a node, without jitter. */
  readonly intervalMs: () => number;
  readonly policy: DriftPolicy;
}

export interface Check {
  /** Returns milliseconds until the node's next check; 0: now. */
  dueAfterMs(task: Task): number;
  /** Checks a node if due, and sets the status phase. */
  checkNode(task: Task, signal: AbortSignal): Promise<Outcome>;
  /** Call when the object is gone. */
  forget(key: string): void;
}

/**
 * Creates the drift check. A check needs no record before its start: it changes nothing and may be repeated. All state
 * is in its Jobs, plus failed checks in memory.
 */
export function createCheck(options: CheckOptions): Check {
  const { clock, intervalMs, policy } = options;
  const state = {
    checkAges: new RecordAges(clock),
    failingChecks: new FailingChecks(clock),
    startedChecks: new StartedChecks(clock),
    confirmations: new Confirmations(clock),
  };
  const failures = createCheckFailures({ ...options, ...state });
  const concludeApplied = createConclude({ ...options, ...state });
  const concludeObserved = createConcludeObserved({ ...options, ...state });
  const conclude: Conclude = async (check, ...ended) =>
    (check.isObserved ? concludeObserved : concludeApplied)(check, ...ended);
  const checkRun = createCheckRun({ ...options, ...state, failures, conclude });

  function mustHeal(config: NodeConfig): boolean {
    return policy === 'heal' && isDrifted(config.status) && !prohibitionOf(config, 'apply');
  }

  return {
    dueAfterMs(task) {
      const { report, node } = task;
      const { config } = report;
      const basis = checkBasisOf(task);
      if (!basis) return intervalMs();
      const { due, dueInMs } = checkDue({ config, node, basis }, { ...options, ...state });
      return due || mustHeal(config) ? 0 : dueInMs;
    },
    async checkNode(task, signal) {
      const { node, report } = task;
      const { config } = report;
      const basis = checkBasisOf(task);
      if (!basis) return {};
      const { applied, isObserved } = basis;
      const next = checkDue({ config, node, basis }, { ...options, ...state });
      const { occasion, content, due, dueInMs } = next;
      if (!due && mustHeal(config)) return heal(task, applied);
      if (!due) return { requeueAfterMs: dueInMs };
      const desired = {
        generation: config.metadata.generation ?? 0,
        action: 'check',
        content,
        machine: machineOf(node),
      } as const;
      // A boot ends the applied state, and an observed node has none.
      const booted = due === 'boot' && !isObserved;
      const about = { task, key: keyOf(config), applied, isObserved } as const;
      return checkRun({ ...about, occasion, booted, desired }, signal);
    },
    forget(key) {
      for (const memory of Object.values(state)) memory.forget(key);
    },
  };
}
