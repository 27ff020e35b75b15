import type { JobAction } from '../api/job.ts';
import type { Node } from '../kube/core-resources.ts';
import { keyOf } from '../kube/object.ts';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../time/clock.ts';
import type { Admission } from './admit.ts';
import { decide, type Step } from './decide.ts';
import type { ControllerMetrics } from './metrics.ts';
import type { NodeConfig } from './node-config.ts';
import type { Situation } from './reporting/situation.ts';
import { type Contents, contentHash, requestOf } from './request.ts';
import { withSilentNics } from './result.ts';
import type { EndedRun, Order, Run, Runner } from './runner.ts';
import { systemUuidOf } from './target.ts';
import { refOfConfig } from './world.ts';

/** What an agent is to bring about on a node for an object. */
export interface Errand {
  readonly config: NodeConfig;
  readonly node: Node;
  readonly action: JobAction;
  readonly contents: Contents;
}

/** How far it has come. */
export interface Progress {
  readonly done: boolean;
  readonly situation: Situation;
  readonly requeueAfterMs?: number;
}

export interface PursueOptions {
  readonly runner: Runner;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
  readonly log: Logger;
}

/** Who waits for its turn is woken when another run ends; this finds what nobody told. */
const askAgainMs = 30_000;

export type Pursue = (errand: Errand, signal: AbortSignal) => Promise<Progress>;

/** Takes the next step of an errand: starts, waits for, repeats or takes back runs of the agent. */
export function createPursuit(options: PursueOptions): Pursue {
  const { runner, admission, clock, metrics, log } = options;

  async function pursue(errand: Errand, signal: AbortSignal): Promise<Progress> {
    const { config, node, contents, action } = errand;
    const { uid, generation = 0 } = config.metadata;
    const content = contentHash(node, contents);
    const runs = runner
      .runsFor(refOfConfig(config))
      .filter((run) => run.uid === uid)
      .map((run) => (run.content === content ? withSilentNics(run, contents.interfaces) : run));
    const wish = { generation, action, content };
    const step = decide(wish, runs, config.status, clock.now());
    switch (step.kind) {
      case 'start':
        return start(errand, { ...orderOf(errand, step), content }, runs, signal);
      case 'remove':
        await runner.remove(step.run, signal);
        return waiting(`${step.run.name} is out of date and is taken back`);
      case 'wait':
        return step.current
          ? { done: false, situation: { kind: 'working', run: step.run } }
          : waiting(`${step.run.name}, which was sent before the last change, is at work`);
      case 'pause':
        return { done: false, situation: told(step.witness), requeueAfterMs: step.forMs };
      case 'done':
        return { done: true, situation: told(step.witness) };
      default:
        return step satisfies never;
    }
  }

  async function start(
    errand: Errand,
    order: Order,
    runs: readonly Run[],
    signal: AbortSignal,
  ): Promise<Progress> {
    const name = runner.nameOf(order);
    const key = keyOf(order.config);
    const permission = admission.request({ key, node: order.node, name });
    if (!permission.granted) {
      return { ...waiting(permission.why, order.attempt > 1), requeueAfterMs: askAgainMs };
    }
    try {
      await runner.start(order, requestOf(order, errand.node, errand.contents), signal);
    } finally {
      permission.release();
    }
    const { action, attempt, generation, node } = order;
    log.info({ config: key, job: name, node, action, attempt, generation }, 'agent sent');
    metrics.count('multinic_jobs_started_total', { action });
    await tidy(runs, signal);
    const run = runner.runsFor(order.config).find((one) => one.name === name);
    return run
      ? { done: false, situation: { kind: 'working', run } }
      : waiting(`${name} was started and is gone`);
  }

  /** The last one that ended is kept: it tells how things stand when the status is lost. */
  async function tidy(runs: readonly Run[], signal: AbortSignal): Promise<void> {
    const ended = runs.filter(({ phase }) => phase === 'ended');
    const byEnd = ended.toSorted((a, b) => Number(a.ended?.at) - Number(b.ended?.at));
    for (const run of byEnd.slice(0, -1)) await runner.remove(run, signal);
  }

  return pursue;
}

function orderOf(
  { config, node, action }: Errand,
  { attempt, generation }: Extract<Step, { kind: 'start' }>,
): Omit<Order, 'content'> {
  return {
    uid: config.metadata.uid ?? '',
    generation,
    attempt,
    action,
    node: node.metadata.name,
    instance: systemUuidOf(node) ?? '',
    config: refOfConfig(config),
  };
}

function waiting(message: string, repeat = false): Progress {
  return { done: false, situation: { kind: 'waiting', message, repeat } };
}

function told(witness: EndedRun | undefined): Situation {
  return witness ? { kind: 'ended', run: witness } : { kind: 'recorded' };
}
