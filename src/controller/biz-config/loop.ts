import type { Effect } from '../../api/effects.ts';
import type { metricTable } from '../../api/metrics.ts';
import type { BizConfigGroup, BizConfigMode } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { createController, sourceOf } from '../../kube/reconcile/controller.ts';
import { together } from '../../kube/reconcile/together.ts';
import { countWork, sampleSilence, sampleWork } from '../../kube-metrics.ts';
import type { Perform } from '../../process/effects.ts';
import type { PartContext } from '../../process/part.ts';
import type { Stores } from '../objects/stores.ts';
import type { CountRemovals } from '../removals/count-removals.ts';
import { LiveObjects } from './live-objects.ts';
import { createBizReconciler } from './reconcile.ts';
import { BizReporter } from './report.ts';
import { createGroupWatch, keysOfChild, sourceKey } from './watch.ts';

/** Controller name in metrics. */
const controllerName = 'biz-config';

interface BizConfigLoopOptions {
  readonly client: KubeClient;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly stores: Pick<Stores, 'configs' | 'configDirectory'>;
  readonly values: {
    readonly namespace: string;
    readonly bizConfig: BizConfigMode;
    readonly bizConfigGroups: readonly BizConfigGroup[];
  };
  /** Counts the removals of the last hour in the business cluster. */
  readonly countRemovals: CountRemovals;
  /** Resolves after the first list of MultiNicNodeConfigs: until then no object is known to be missing. */
  readonly listed: () => Promise<void>;
}

interface BizConfigLoop {
  /** Expands MultiNicBizConfigs until the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Creates the MultiNicBizConfig controller; undefined in mode off, which watches nothing. */
export function createBizConfigLoop(options: BizConfigLoopOptions): BizConfigLoop | undefined {
  const { client, context, perform, recorder, stores, values, listed } = options;
  const { clock, random, log, metrics } = context;
  const { bizConfig: setting, namespace } = values;
  if (setting === 'off') return undefined;
  const groups = [...new Set(values.bizConfigGroups)];
  const watches = groups.map((group) => createGroupWatch(group, { client, context, namespace }));
  const controller = createController({
    name: controllerName,
    workers: 1,
    reconcile: createBizReconciler({
      watches,
      stores,
      live: new LiveObjects({ client, configs: stores.configs, perform, clock }),
      reporter: new BizReporter({ client, recorder, perform, clock }),
      setting,
      countRemovals: options.countRemovals,
      clock,
    }),
    // A group's CRD may be missing: no source waits for another group's list.
    reflectors: [],
    sources: [
      ...watches.map(({ group, store }) => sourceOf(store, ({ key }) => [sourceKey(group, key)])),
      sourceOf(stores.configs, (change) => keysOfChild(watches, change)),
    ],
    clock,
    random,
    observer: countWork(metrics, controllerName),
    onResult: ({ key, error }) => {
      if (error !== undefined) log.warn({ err: error, source: key }, 'expansion failed, retrying');
    },
  });
  sampleWork(metrics, controllerName, controller);
  for (const { silence } of watches) sampleSilence(metrics, silence);

  async function expand(signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => ended.resolve(), { once: true });
    if (!signal.aborted) await Promise.race([listed(), ended.promise]);
    if (!signal.aborted) await controller.run(signal);
  }

  return {
    run: (signal) =>
      together(signal, clock, {
        ...Object.fromEntries(watches.map(({ group, run }) => [`kind of ${group}`, run])),
        expansion: expand,
      }),
  };
}
