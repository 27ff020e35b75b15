import type { Effect } from '../../api/effects.ts';
import type { metricTable } from '../../api/metrics.ts';
import type { BizConfigGroup, BizConfigMode } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { sourceOf } from '../../kube/reconcile/controller.ts';
import type { Perform } from '../../process/effects.ts';
import type { PartContext } from '../../process/part.ts';
import type { Controllers } from '../../runtime/controllers.ts';
import type { Stores } from '../objects/stores.ts';
import type { CountRemovals } from '../removals/count-removals.ts';
import { LiveObjects } from './live-objects.ts';
import { sampleNotReady } from './not-ready.ts';
import { createBizReconciler } from './reconcile.ts';
import { BizReporter } from './report.ts';
import { createGroupWatch, keysOfChild, sourceKey } from './watch.ts';

/** Controller name in metrics. */
const controllerName = 'biz-config';

interface BizConfigOptions {
  readonly client: KubeClient;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
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

type Tasks = Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;

/** Defines the controller of MultiNicBizConfigs; returns its watches. Mode off watches and defines nothing. */
export function defineBizConfigs(controllers: Controllers, options: BizConfigOptions): Tasks {
  const { client, context, perform, stores, values, listed } = options;
  const { clock } = context;
  const { recorder } = controllers;
  const { bizConfig: setting, namespace } = values;
  if (setting === 'off') return {};
  const groups = [...new Set(values.bizConfigGroups)];
  const watches = groups.map((group) => createGroupWatch(group, { client, context, namespace }));
  sampleNotReady(context.metrics, watches);
  controllers.define({
    name: controllerName,
    keyField: 'source',
    workers: 1,
    startsAfter: listed,
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
      // Each existing source has its key already.
      {
        ...sourceOf(stores.configs, (change) => keysOfChild(watches, change)),
        countsExisting: false,
      },
    ],
  });
  return Object.fromEntries(watches.map(({ group, run }) => [`kind of ${group}`, run]));
}
