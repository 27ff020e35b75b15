import { type ConditionUpdate, findCondition } from '../../api/condition.ts';
import type { JobResult } from '../../api/job.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, type RecordAges, recordOf } from '../jobs/applied.ts';
import { healthOf, unreachable } from '../jobs/liveness.ts';
import { nodeEventsOf } from '../jobs/node-events.ts';
import { requestOf } from '../jobs/request.ts';
import type { AgentTask, Failure, NodeEvents, Run, Runner } from '../jobs/runner.ts';
import { isDrifted } from '../metrics.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { agentTaskFor, requeueMs, runsOf, type Task } from '../scheduling/apply-task.ts';
import { type Dispatch, turn } from '../scheduling/dispatch.ts';
import { type Desired, decide } from '../scheduling/schedule.ts';
import { asApplied } from '../status/conditions.ts';
import { type ControllerMetrics, outcomeLabel, refusalIn } from '../status/report.ts';
import type { RunPhase } from '../status/run-phase.ts';
import { drifted, driftIn, isForApply, knownFromCheck, undone } from './check-findings.ts';
import { Confirmations } from './confirmations.ts';
import {
  checkedAs,
  checkResult,
  checkTimesOf,
  contentOfCheck,
  dueIn,
  dueOn,
  hasEvents,
  isHealAsked,
  lastCheck,
  pauseOf,
} from './drift.ts';
import { FailingChecks } from './failing-checks.ts';

export interface CheckOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly ages: RecordAges;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  /** Returns the pause between two checks of a node, without jitter. */
  readonly intervalMs: () => number;
  /** `heal`: drift is applied again; `report`: drift is only reported, unless a user requested healing. */
  readonly policy: 'heal' | 'report';
}

export interface Check {
  /** Returns milliseconds until the node's next check; 0: now. */
  dueAfterMs(task: Task): number;
  /** Checks a node if due, and sets the status phase. */
  checkNode(task: Task, signal: AbortSignal): Promise<Outcome>;
  /** Call when the object is gone. */
  forget(key: string): void;
}

/** One drift check. */
interface DriftCheck {
  readonly task: Task;
  readonly key: string;
  readonly applied: Applied;
  readonly occasion: NodeEvents;
  /** True if the node rebooted: the applied state is unknown until the check. */
  readonly booted: boolean;
  readonly desired: Desired;
}

/** Last check on a node that this process started or found. */
interface StartedCheck {
  readonly job: string;
  readonly content: string;
  /** Milliseconds on the monotonic clock. */
  readonly at: number;
}

/**
 * Creates the drift check. A check needs no record before its start: it changes nothing and may be repeated. All state
 * is in its Jobs, plus failed checks in memory.
 */
export function createCheck(options: CheckOptions): Check {
  const { runner, dispatch, ages, clock, metrics, facts, startDeadlineMs, intervalMs, policy } =
    options;
  const failingChecks = new FailingChecks(clock);
  const startedChecks = new Map<string, StartedCheck>();
  const confirmations = new Confirmations(clock);

  function dueAfterMs({ report: { config }, node }: Task): number {
    const applied = recordOf(config);
    if (!applied) return intervalMs();
    const { due, dueInMs } = dueNow(config, node, applied);
    return due || mustHeal(config) ? 0 : dueInMs;
  }

  function mustHeal({ status }: NodeConfig): boolean {
    return policy === 'heal' && isDrifted(status);
  }

  function dueNow(config: NodeConfig, node: Node, applied: Applied) {
    const key = keyOf(config);
    const occasion = nodeEventsOf(config, node);
    const recordAgeMs = ages.of(ageKey(key), checkTimesOf(applied));
    const pauseMs = pauseOf(applied, intervalMs());
    confirmations.assume(key, applied, { recordMs: recordAgeMs, intervalMs: pauseMs });
    const confirmed = confirmations.since(key, applied);
    const ageMs = Math.min(recordAgeMs, confirmed?.ageMs ?? Infinity);
    const age = { ageMs, intervalMs: intervalMs(), lastCheckMs: sinceCheck(key, applied, ageMs) };
    const content = contentOfCheck(applied, occasion, confirmed?.at);
    const isUnderWay = startedChecks.get(key)?.content === content;
    const due = dueOn(applied, occasion, isUnderWay ? { ...age, lastCheckMs: Infinity } : age);
    return { occasion, content, due, dueInMs: dueIn(applied, occasion, age) };
  }

  async function checkNode(task: Task, signal: AbortSignal): Promise<Outcome> {
    const { config } = task.report;
    const key = keyOf(config);
    const applied = recordOf(config);
    if (!applied?.done) return {};
    const { occasion, content, due, dueInMs } = dueNow(config, task.node, applied);
    if (!due && mustHeal(config)) return heal(task, applied);
    if (!due) return { requeueAfterMs: dueInMs };
    const desired = {
      generation: config.metadata.generation ?? 0,
      action: 'check',
      content,
      machine: machineOf(task.node),
    } as const;
    return proceed({ task, key, applied, occasion, booted: due === 'boot', desired }, signal);
  }

  /** Returns milliseconds since the last successful check, or since the start of a check in this process. */
  function sinceCheck(key: string, { checkedAt }: Applied, ageMs: number): number {
    const begun = startedChecks.get(key);
    const sinceBegun = begun ? clock.monotonicMs() - begun.at : Infinity;
    return Math.min(checkedAt === undefined ? Infinity : ageMs, sinceBegun);
  }

  async function proceed(one: DriftCheck, signal: AbortSignal): Promise<Outcome> {
    const { task, desired } = one;
    const runs = runsOf(runner, task, desired.content);
    const next = decide(desired, runs, undefined, 0);
    if (next.kind === 'start') return judge(one, lastCheck(runs, desired), next, signal);
    if (next.kind === 'remove') {
      await runner.remove(next.run, signal);
      return wait(one, turn(`Job ${next.run.name} is outdated and is being deleted`));
    }
    if (next.kind === 'wait') {
      return next.current
        ? follow(one, next.run, signal)
        : wait(one, turn(`Job ${next.run.name}, started before, is still running`));
    }
    throw new Error(`without a record nothing is ${next.kind}`);
  }

  /** Returns the last check's finding, or starts another check. */
  async function judge(
    one: DriftCheck,
    last: Run | undefined,
    { attempt, generation }: Pick<AgentTask, 'attempt' | 'generation'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (last?.ended) {
      const end = checkResult(last.ended.verdict);
      if ('result' in end) return conclude(one, end.result, last, signal);
      if (failingChecks.isNew(one.key, one.applied, { job: last.name, ...end.failure })) {
        note(one, end.failure, last.name);
      }
    }
    const agentTask = agentTaskFor(one.task, { ...one.desired, attempt, generation });
    return paused(one) ?? start(one, agentTask, signal);
  }

  async function start(
    one: DriftCheck,
    agentTask: AgentTask,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { task } = one;
    const failure = unreachable(task.node);
    if (failure) return wait(one, failure);
    try {
      let sent: Run | undefined;
      const why = await dispatch(agentTask, async () => {
        sent = await runner.prepare(agentTask, signal);
        const { config } = task.report;
        const request = requestOf(
          { ...agentTask, family: sent.family },
          { ...task, config },
          { protocol: failingChecks.protocolFor(one.key, one.applied) },
          facts(),
        );
        await runner.start(agentTask, request, signal);
        begin(one, sent.name);
      });
      return sent
        ? await follow(one, sent, signal)
        : wait(one, why ?? turn('the check has not started'));
    } catch (error) {
      // A refused check Job says nothing about the NICs.
      const message = refusalIn(error);
      if (message === undefined) throw error;
      note(one, { reason: 'JobRefused', message });
      return paused(one) ?? {};
    }
  }

  /** A removed run is created again under the same name, so the old failure must not match. */
  function begin({ key, desired: { content } }: DriftCheck, job: string): void {
    startedChecks.set(key, { job, content, at: clock.monotonicMs() });
    failingChecks.restarted(key, job);
  }

  /** Removes a run that does not start in time, otherwise waits. */
  async function follow(one: DriftCheck, run: Run, signal: AbortSignal): Promise<Outcome> {
    const { key, task, booted } = one;
    const shown = { ...run, trouble: run.trouble ?? unreachable(task.node) };
    if (booted) task.report.tell({ kind: 'working', run: shown, repeat: false });
    const started = startedChecks.get(key);
    const at = started?.job === run.name ? started.at : clock.monotonicMs();
    startedChecks.set(key, { job: run.name, content: one.desired.content, at });
    const health = healthOf(run, { startDeadlineMs, recordAgeMs: clock.monotonicMs() - at });
    if (health.kind === 'fine') return {};
    if (health.kind !== 'late') return { requeueAfterMs: health.forMs };
    await runner.remove(run, signal);
    note(one, health.failure, run.name);
    return paused(one) ?? {};
  }

  async function conclude(
    { task, key, applied, occasion }: DriftCheck,
    result: JobResult,
    run: Run,
    signal: AbortSignal,
  ): Promise<Outcome> {
    metrics.count('multinic_job_results_total', {
      outcome: outcomeLabel({ kind: 'result', result }),
    });
    const confirmed = {
      ...checkedAs(applied, occasion, clock.now()),
      ...knownFromCheck(applied, result, run.name),
    };
    const reasons = driftIn(result);
    const differs = reasons.length > 0;
    const heals = policy === 'heal' || isHealAsked(applied, occasion);
    const record = differs && heals ? undone(confirmed, reasons) : confirmed;
    const condition = differs ? drifted(result) : asApplied;
    const isShown =
      record.done && hasEvents(applied, occasion) && shows(task.report.config, condition);
    if (isShown && confirmations.repeats(key, applied, result)) {
      await runner.remove(run, signal);
      return { requeueAfterMs: pauseOf(applied, intervalMs()) };
    }
    const { nics, known } = result;
    const checked: RunPhase = { kind: 'recorded', check: { nics, known, at: clock.now() } };
    task.report.tell(checked, record, condition);
    confirmations.wrote(key, record, result);
    return { requeueAfterMs: record.done ? pauseOf(record, intervalMs()) : 0 };
  }

  function note({ key, desired: { content } }: DriftCheck, failure: Failure, ended?: string): void {
    confirmations.failed(key);
    failingChecks.note(key, content, failure, ended);
    metrics.count('multinic_job_results_total', {
      outcome: outcomeLabel({ kind: 'failure', ...failure }),
    });
  }

  /** Returns undefined when the next attempt is due. */
  function paused(one: DriftCheck): Outcome | undefined {
    const { key, task, applied, occasion, desired, booted } = one;
    const last = failingChecks.of(key, desired.content);
    if (!last) return undefined;
    const { failure } = last;
    if (isForApply(failure, policy === 'heal' || isHealAsked(applied, occasion))) {
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
  }

  function forget(key: string): void {
    ages.forget(ageKey(key));
    confirmations.forget(key);
    failingChecks.forget(key);
    startedChecks.delete(key);
  }

  return { dueAfterMs, checkNode, forget };
}

function heal({ report }: Task, applied: Applied): Outcome {
  report.tell({ kind: 'recorded' }, undone(applied, ['Drifted']));
  return { requeueAfterMs: 0 };
}

/** True if the status has this condition, with status and reason. */
function shows({ status: now }: NodeConfig, { type, status, reason }: ConditionUpdate): boolean {
  const found = findCondition(now?.conditions, type);
  return found?.status === status && found.reason === reason;
}

function ageKey(key: string): string {
  return `check of ${key}`;
}

/** Without a reboot the known state stays valid until the check. */
function wait({ task, booted }: DriftCheck, why: Failure): Outcome {
  if (booted) task.report.tell({ kind: 'waiting', repeat: false, ...why });
  return { requeueAfterMs: requeueMs };
}
