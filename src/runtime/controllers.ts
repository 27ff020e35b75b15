import { counted } from '../api/counted.ts';
import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createEventRecorder, type EventRecorder } from '../kube/events.ts';
import {
  type Controller,
  type ControllerOptions,
  createController,
  type ReconcileResult,
} from '../kube/reconcile/controller.ts';
import { together } from '../kube/reconcile/together.ts';
import type { Perform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import { aborted } from '../time/aborted.ts';
import { countResult, countWork, sampleWork } from './kube-metrics.ts';

/** A part with controllers, as named in effects, Events and logs. */
export type LeadingPart = 'operator' | 'controller' | 'lifecycle';

export interface ControllersOptions {
  readonly part: LeadingPart;
  readonly client: KubeClient;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
}

type OwnOptions = Pick<
  ControllerOptions,
  'name' | 'workers' | 'lanes' | 'slowMs' | 'reconcile' | 'sources' | 'reflectors'
>;

export interface ControllerDefinition extends OwnOptions {
  /** Field of the key in log lines, such as `config`. */
  readonly keyField: string;
  /** Returns the object's state after a reconcile without error, for metrics; default: `success`. */
  readonly stateAfter?: (key: string) => string;
  readonly onResult?: (result: ReconcileResult) => void;
  /** No key is reconciled before; default: the controller's own first lists suffice. */
  readonly startsAfter?: () => Promise<void>;
}

type Task = (signal: AbortSignal) => Promise<void>;

interface LeaderWork {
  /** Runs the controllers with work before and after them, whose Events are written, too. */
  readonly around?: (run: () => Promise<void>) => Promise<void>;
  /** Runs beside the controllers; an early end fails the part. */
  readonly tasks?: Readonly<Record<string, Task>>;
}

/**
 * The controllers of one part. Each has its queue, results and durations in metrics, a log line per failure, a share in
 * readiness, and the part's Events.
 */
export class Controllers {
  readonly recorder: EventRecorder;
  readonly #options: ControllersOptions;
  readonly #defined: {
    readonly definition: ControllerDefinition;
    readonly controller: Controller;
  }[] = [];

  constructor(options: ControllersOptions) {
    const { part, client, perform, context } = options;
    this.#options = options;
    this.recorder = createEventRecorder({
      client: aroundWrites(client, (write) => perform(`${part}.event.write`, write)),
      component: `multinic-${part}`,
      clock: context.clock,
      onError: (error) => context.log.warn({ err: error }, 'event not written'),
    });
  }

  define(definition: ControllerDefinition): Controller {
    const { clock, random, log, metrics } = this.#options.context;
    const { name, keyField, stateAfter = () => 'success', onResult } = definition;
    const controller = createController({
      ...definition,
      clock,
      random,
      observer: countWork(metrics, name),
      onResult: (result) => {
        const { key, error } = result;
        countResult(metrics, name, result, error === undefined ? stateAfter(key) : '');
        if (error !== undefined) {
          log.warn(
            { err: error, [keyField]: key, controller: name },
            'reconcile failed, will retry',
          );
        }
        onResult?.(result);
      },
    });
    sampleWork(metrics, name, controller);
    this.#defined.push({ definition, controller });
    return controller;
  }

  /** Returns why the part is not ready; undefined: ready. A process without the lease is ready: its watches are stopped. */
  readonly notReady = (): string | undefined => {
    const watches = this.#defined.flatMap(({ definition }) => definition.reflectors);
    const late = watches.filter(({ state }) => state === 'listing' || state === 'waiting');
    if (late.length === 0) return undefined;
    return `${counted(late.length, 'watch is', 'watches are')} not up to date`;
  };

  /** Runs all controllers and further work of the leader until the signal aborts, and writes their Events. */
  async run(leading: AbortSignal, { around, tasks = {} }: LeaderWork = {}): Promise<void> {
    const controllers = this.#defined.map(({ definition, controller }): [string, Task] => [
      `controller ${definition.name}`,
      async (end) => start(definition, controller, end),
    ]);
    const all = { ...Object.fromEntries(controllers), ...tasks };
    const run = async () => together(leading, this.#options.context.clock, all);
    await this.recorder.during(leading, async () => (around ? around(run) : run()));
  }
}

async function start(
  { startsAfter }: ControllerDefinition,
  controller: Controller,
  signal: AbortSignal,
): Promise<void> {
  if (startsAfter) await Promise.race([startsAfter(), aborted(signal)]);
  if (!signal.aborted) await controller.run(signal);
}
