import { type ConditionUpdate, maxMessage } from '../../api/condition.ts';
import type { JobResult, NicResult } from '../../api/job.ts';
import { interfaceName } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, completionOf, type RecordAges, recordOf } from '../jobs/applied.ts';
import { isOpen } from '../jobs/evidence.ts';
import { healthOf, unreachable } from '../jobs/liveness.ts';
import { requestOf } from '../jobs/request.ts';
import type { AgentTask, Failure, NodeEvents, Run, Runner } from '../jobs/runner.ts';
import { isDrifted } from '../metrics.ts';
import { machineOf } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';
import { agentTask, requeueMs, runsOf, type Task } from '../scheduling/apply-task.ts';
import { type Dispatch, turn } from '../scheduling/dispatch.ts';
import { type Desired, decide, pauseMs } from '../scheduling/schedule.ts';
import { unreadable } from '../scheduling/terms.ts';
import { asApplied, type RunPhase } from '../status/conditions.ts';
import { type ControllerMetrics, outcomeLabel, refusalIn } from '../status/report.ts';
import {
  checkedAs,
  checkResult,
  checkTimesOf,
  contentOfCheck,
  dueIn,
  dueOn,
  lastCheck,
  nodeEventsOf,
  pauseOf,
} from './drift.ts';

export interface CheckOptions {
  readonly runner: Runner;
  readonly dispatch: Dispatch;
  readonly ages: RecordAges;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
  readonly startDeadlineMs: number;
  readonly intervalMs: number;
  /** `heal`: what differs is applied again; `report`: it is told. */
  readonly policy: 'heal' | 'report';
}

export interface Check {
  /** Milliseconds until the node has to be compared with what was applied to it; 0: now. */
  dueAfterMs(task: Task): number;
  /** Compares a node with what was applied to it, when something may have changed it; tells what comes of it. */
  look(task: Task, signal: AbortSignal): Promise<Outcome>;
  /** The object is gone. */
  forget(key: string): void;
}

/** One look at a node. */
interface Look {
  readonly task: Task;
  readonly key: string;
  readonly applied: Applied;
  readonly occasion: NodeEvents;
  /** Whether the node was started anew: what was known of it says nothing until it was looked at. */
  readonly booted: boolean;
  readonly desired: Desired;
}

/** The last check of a node that this process has begun or found. */
interface Begun {
  readonly job: string;
  readonly content: string;
  /** On the monotonic clock. */
  readonly at: number;
}

/** A look that comes to nothing again and again. */
interface InVain {
  readonly content: string;
  /** The last run whose end is counted; one that was refused never was. */
  readonly job: string | undefined;
  readonly failures: number;
  readonly failure: Failure;
  /** When it is tried again, on the monotonic clock. */
  readonly until: number;
}

/** The first protocol that has the word `check`. */
const terms = { protocol: 3 } as const;

/**
 * A look needs no record before it begins: it changes nothing, and may be repeated. All that is known of it are its Jobs,
 * and what this process remembers of those that came to nothing.
 */
export function createCheck(options: CheckOptions): Check {
  const { runner, dispatch, ages, clock, metrics, startDeadlineMs, intervalMs, policy } = options;
  const lastInVain = new Map<string, InVain>();
  const firstSeen = new Map<string, Begun>();

  function dueAfterMs({ report: { config }, node }: Task): number {
    const applied = recordOf(config);
    if (!applied) return intervalMs;
    const { due, dueInMs } = dueNow(config, node, applied);
    return due || isToHeal(config) ? 0 : dueInMs;
  }

  function isToHeal({ status }: NodeConfig): boolean {
    return policy === 'heal' && isDrifted(status);
  }

  function dueNow(config: NodeConfig, node: Node, applied: Applied) {
    const key = keyOf(config);
    const occasion = nodeEventsOf(config, node);
    const ageMs = ages.of(ageKey(key), checkTimesOf(applied));
    const pace = { ageMs, intervalMs, lastCheckMs: sinceCheck(key, applied, ageMs) };
    const content = contentOfCheck(applied, occasion);
    const isUnderWay = firstSeen.get(key)?.content === content;
    const due = dueOn(applied, occasion, isUnderWay ? { ...pace, lastCheckMs: Infinity } : pace);
    return { occasion, content, due, dueInMs: dueIn(applied, occasion, pace) };
  }

  async function look(task: Task, signal: AbortSignal): Promise<Outcome> {
    const { config } = task.report;
    const key = keyOf(config);
    const applied = recordOf(config);
    if (!applied?.done) return {};
    const { occasion, content, due, dueInMs } = dueNow(config, task.node, applied);
    if (!due && isToHeal(config)) return heal(task, applied);
    if (!due) return { requeueAfterMs: dueInMs };
    const desired = {
      generation: config.metadata.generation ?? 0,
      action: 'check',
      content,
      machine: machineOf(task.node),
    } as const;
    return proceed({ task, key, applied, occasion, booted: due === 'boot', desired }, signal);
  }

  /** Milliseconds since a check ended well, or began in this process. */
  function sinceCheck(key: string, { checkedAt }: Applied, ageMs: number): number {
    const begun = firstSeen.get(key);
    const sinceBegun = begun ? clock.monotonicMs() - begun.at : Infinity;
    return Math.min(checkedAt === undefined ? Infinity : ageMs, sinceBegun);
  }

  async function proceed(one: Look, signal: AbortSignal): Promise<Outcome> {
    const { task, desired } = one;
    const runs = runsOf(runner, task, desired.content);
    const next = decide(desired, runs, undefined, 0);
    if (next.kind === 'start') return judge(one, lastCheck(runs, desired), next, signal);
    if (next.kind === 'remove') {
      await runner.remove(next.run, signal);
      return hold(one, turn(`${next.run.name} is out of date and is taken back`));
    }
    if (next.kind === 'wait') {
      return next.current
        ? follow(one, next.run, signal)
        : hold(one, turn(`${next.run.name}, sent before, is at work`));
    }
    throw new Error(`without a record nothing is ${next.kind}`);
  }

  /** What the last look found, or another look. */
  async function judge(
    one: Look,
    last: Run | undefined,
    { attempt, generation }: Pick<AgentTask, 'attempt' | 'generation'>,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (last?.ended) {
      const end = checkResult(last.ended.verdict);
      if ('result' in end) return conclude(one, end.result);
      if (lastInVain.get(one.key)?.job !== last.name) note(one, end.failure, last.name);
    }
    const order = agentTask(one.task, { ...one.desired, attempt, generation });
    return paused(one) ?? start(one, order, signal);
  }

  async function start(one: Look, order: AgentTask, signal: AbortSignal): Promise<Outcome> {
    const { task } = one;
    const failure = unreachable(task.node);
    if (failure) return hold(one, failure);
    try {
      let sent: Run | undefined;
      const why = await dispatch(order, async () => {
        sent = await runner.prepare(order, signal);
        const { config } = task.report;
        const request = requestOf({ ...order, family: sent.family }, { ...task, config }, terms);
        await runner.start(order, request, signal);
        begin(one, sent.name);
      });
      return sent ? await follow(one, sent, signal) : hold(one, why ?? turn('not begun'));
    } catch (error) {
      // Nothing is wrong with the NICs because nobody can be sent to look at them.
      const message = refusalIn(error);
      if (message === undefined) throw error;
      note(one, { reason: 'JobRefused', message });
      return paused(one) ?? {};
    }
  }

  /** A run that was withdrawn is made again under its name: of that one nothing is known. */
  function begin({ key, desired: { content } }: Look, job: string): void {
    firstSeen.set(key, { job, content, at: clock.monotonicMs() });
    const before = lastInVain.get(key);
    if (before?.job === job) lastInVain.set(key, { ...before, job: undefined });
  }

  /** Withdraws what does not begin in time, else waits. */
  async function follow(one: Look, run: Run, signal: AbortSignal): Promise<Outcome> {
    const { key, task, booted } = one;
    const shown = { ...run, trouble: run.trouble ?? unreachable(task.node) };
    if (booted) task.report.tell({ kind: 'working', run: shown, repeat: false });
    const seen = firstSeen.get(key);
    const at = seen?.job === run.name ? seen.at : clock.monotonicMs();
    firstSeen.set(key, { job: run.name, content: one.desired.content, at });
    const health = healthOf(run, { startDeadlineMs, recordAgeMs: clock.monotonicMs() - at });
    if (health.kind === 'fine') return {};
    if (health.kind !== 'late') return { requeueAfterMs: health.forMs };
    await runner.remove(run, signal);
    note(one, health.failure, run.name);
    return paused(one) ?? {};
  }

  function conclude({ task, applied, occasion }: Look, result: JobResult): Outcome {
    metrics.count('multinic_job_results_total', {
      outcome: outcomeLabel({ kind: 'result', result }),
    });
    const seen = checkedAs(applied, occasion, clock.now());
    const { reasons } = completionOf({ kind: 'result', result });
    const differs = reasons.length > 0;
    const record = differs && policy === 'heal' ? undone(seen, reasons) : seen;
    const checked: RunPhase = { kind: 'recorded', check: { nics: result.nics, at: clock.now() } };
    task.report.tell(checked, record, differs ? drifted(result) : asApplied);
    return { requeueAfterMs: record.done ? pauseOf(record, intervalMs) : 0 };
  }

  function note({ key, desired: { content } }: Look, failure: Failure, ended?: string): void {
    const known = lastInVain.get(key);
    const before = known?.content === content ? known : undefined;
    const failures = (before?.failures ?? 0) + 1;
    const { reason, message } = failure;
    const until = clock.monotonicMs() + pauseMs([reason], failures, content);
    const job = ended ?? before?.job;
    lastInVain.set(key, { content, job, failures, failure: { reason, message }, until });
    metrics.count('multinic_job_results_total', {
      outcome: outcomeLabel({ kind: 'failure', ...failure }),
    });
  }

  /** Undefined when it is time to look (again). */
  function paused(one: Look): Outcome | undefined {
    const { key, task, applied, occasion, desired, booted } = one;
    const last = lastInVain.get(key);
    if (last?.content !== desired.content) return undefined;
    const { failure } = last;
    if (isForApply(failure)) {
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

  /**
   * Whether an apply has to find out what a look cannot: one takes precedence over a newer state of the object that the host
   * has seen, and an older agent has words for it.
   */
  function isForApply({ reason }: Failure): boolean {
    return reason === 'StaleRequest' || (policy === 'heal' && unreadable.has(reason));
  }

  function forget(key: string): void {
    ages.forget(ageKey(key));
    lastInVain.delete(key);
    firstSeen.delete(key);
  }

  return { dueAfterMs, look, forget };
}

/** What was done is not in force any more, or nobody can tell: it is done again. It worked all the same. */
function undone(applied: Applied, why: readonly Reason[]): Applied {
  const reasons = [...new Set(why)].slice(0, 20);
  return { ...applied, worked: applied.attempt, done: false, reasons };
}

function heal({ report }: Task, applied: Applied): Outcome {
  report.tell({ kind: 'recorded' }, undone(applied, ['Drifted']));
  return { requeueAfterMs: 0 };
}

function ageKey(key: string): string {
  return `check of ${key}`;
}

/** What is known of a node that was not started anew holds until it is looked at. */
function hold({ task, booted }: Look, why: Failure): Outcome {
  if (booted) task.report.tell({ kind: 'waiting', repeat: false, ...why });
  return { requeueAfterMs: requeueMs };
}

function drifted({ nics, warnings }: JobResult): ConditionUpdate {
  const open = nics.filter(isOpen);
  const message = open.length > 0 ? nicTexts(open) : warnings.join('; ');
  return { type: 'Drifted', status: 'True', reason: 'Drifted', message };
}

/** All NICs are named; what is said of each is cut to an equal part of the room for a message. */
function nicTexts(nics: readonly NicResult[]): string {
  const room = Math.floor(maxMessage / nics.length) - '; '.length;
  return nics.map((nic) => cutTo(room, nicText(nic))).join('; ');
}

function cutTo(room: number, text: string): string {
  return text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

function nicText({ index, reason, message }: NicResult): string {
  return `${interfaceName(index)} ${reason}: ${message}`;
}
