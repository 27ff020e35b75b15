import type { Outcome } from '../../kube/reconcile/controller.ts';
import { healthOf, unreachable } from '../jobs/liveness.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import { requestOf } from '../jobs/request.ts';
import type { AgentTask, Run, Runner } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import { type Dispatch, turn } from '../scheduling/dispatch.ts';
import { decide } from '../scheduling/schedule.ts';
import { agentTaskFor, runsOf } from '../scheduling/task.ts';
import { refusalIn } from '../status/report.ts';
import type { CheckFailures } from './check-failures.ts';
import type { Conclude } from './conclude.ts';
import { checkResult, lastCheck } from './drift.ts';
import { type DriftCheck, wait } from './drift-check.ts';
import type { FailingChecks } from './failing-checks.ts';
import type { StartedChecks } from './started-checks.ts';

interface CheckRunOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  readonly startedChecks: StartedChecks;
  readonly failingChecks: FailingChecks;
  readonly failures: CheckFailures;
  readonly conclude: Conclude;
}

/** Takes the next step for a check: starts, follows or removes its run, or reports its result. */
type CheckRun = (check: DriftCheck, signal: AbortSignal) => Promise<Outcome>;

export function createCheckRun(options: CheckRunOptions): CheckRun {
  const { runner, dispatch, facts, startDeadlineMs } = options;
  const { startedChecks, failingChecks, failures, conclude } = options;

  async function proceed(check: DriftCheck, signal: AbortSignal): Promise<Outcome> {
    const { task, desired } = check;
    const runs = runsOf(runner, task, desired.content);
    const next = decide(desired, runs, undefined, 0);
    if (next.kind === 'start') return judge(check, lastCheck(runs, desired), next, signal);
    if (next.kind === 'remove') {
      await runner.remove(next.run, signal);
      return wait(check, turn(`Job ${next.run.name} is outdated and is being deleted`));
    }
    if (next.kind === 'wait') {
      return next.current
        ? follow(check, next.run, signal)
        : wait(check, turn(`Job ${next.run.name}, started before, is still running`));
    }
    throw new Error(`without a record nothing is ${next.kind}`);
  }

  /** Returns the last check's finding, or starts another check. */
  async function judge(
    check: DriftCheck,
    last: Run | undefined,
    { attempt, generation }: Pick<AgentTask, 'attempt' | 'generation'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (last?.ended) {
      const end = checkResult(last.ended.verdict);
      if ('result' in end) return conclude(check, end.result, last, signal);
      if (failingChecks.isNew(check.key, check.applied, { job: last.name, ...end.failure })) {
        failures.note(check, end.failure, last.name);
      }
    }
    const agentTask = agentTaskFor(check.task, { ...check.desired, attempt, generation });
    return failures.paused(check) ?? start(check, agentTask, signal);
  }

  async function start(
    check: DriftCheck,
    agentTask: AgentTask,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { report, node } = check.task;
    const failure = prohibitionOf(report.config, agentTask.action) ?? unreachable(node);
    if (failure) return wait(check, failure);
    try {
      let sent: Run | undefined;
      const why = await dispatch(agentTask, async () => {
        sent = await runner.prepare(agentTask, signal);
        await send(check, agentTask, sent, signal);
      });
      return sent
        ? await follow(check, sent, signal)
        : wait(check, why ?? turn('the check has not started'));
    } catch (error) {
      // A refused check Job says nothing about the NICs.
      const message = refusalIn(error);
      if (message === undefined) throw error;
      failures.note(check, { reason: 'JobRefused', message });
      return failures.paused(check) ?? {};
    }
  }

  async function send(
    { task, key, applied, desired }: DriftCheck,
    agentTask: AgentTask,
    { name, family }: Run,
    signal: AbortSignal,
  ): Promise<void> {
    const { config } = task.report;
    const terms = { protocol: failingChecks.protocolFor(key, applied) };
    const request = requestOf({ ...agentTask, family }, { ...task, config }, terms, facts());
    await runner.start(agentTask, request, signal);
    startedChecks.start(key, name, desired.content);
    // A removed run is created again under the same name, so the old failure must not match.
    failingChecks.restarted(key, name);
  }

  /** Removes a run that does not start in time, otherwise waits. */
  async function follow(check: DriftCheck, run: Run, signal: AbortSignal): Promise<Outcome> {
    const { key, task, booted, desired } = check;
    const shown = { ...run, trouble: run.trouble ?? unreachable(task.node) };
    if (booted) task.report.tell({ kind: 'working', run: shown, repeat: false });
    const recordAgeMs = startedChecks.follow(key, run.name, desired.content);
    const health = healthOf(run, { startDeadlineMs, recordAgeMs });
    if (health.kind === 'fine') return {};
    if (health.kind !== 'late') return { requeueAfterMs: health.forMs };
    await runner.remove(run, signal);
    failures.note(check, health.failure, run.name);
    return failures.paused(check) ?? {};
  }

  return proceed;
}
