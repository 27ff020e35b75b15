import type { Values } from '../process/settings.ts';
import { thisBuild } from '../process/version.ts';
import { Controllers, type ControllersOptions } from '../runtime/controllers.ts';
import { defineBizConfigs } from './biz-config/wiring.ts';
import { createDeletion } from './deletion/deletion.ts';
import { createFinalizer } from './deletion/finalizer.ts';
import { createCheck } from './drift/check-task.ts';
import { createDriftReconciler } from './drift/drift-reconciler.ts';
import { checkIntervalMs } from './drift/interval.ts';
import { createScheduleCheck } from './drift/next-check.ts';
import { Turns } from './drift/turns.ts';
import { RecordAges } from './jobs/record-ages.ts';

import { sampleController } from './metrics.ts';
import { createClusterFacts } from './networks/cluster-facts.ts';
import { createPublishedNetworks } from './networks/published.ts';
import { createStores } from './objects/stores.ts';
import { UnreadyNodes } from './objects/unready-nodes.ts';
import { createReconciler } from './reconcile.ts';
import { createNodeRecords } from './records/node-records.ts';
import { createRemovals } from './removals/removals.ts';
import { createIsCurrent } from './scheduling/is-current.ts';
import { createNextRun } from './scheduling/next-run.ts';
import { type CreateRollout, createScheduling } from './scheduling/scheduling.ts';
import type { controllerSettings } from './settings.ts';
import { recordMissingRight } from './status/events.ts';
import { controllerName, createReporter } from './status/report.ts';
import { createOtherController } from './watch/legacy-controller.ts';
import { createSources } from './watch/sources.ts';
import { createWatches } from './watch/watches.ts';

export interface WiringOptions extends Omit<ControllersOptions, 'part'> {
  readonly values: Values<typeof controllerSettings>;
  readonly makeRollout?: CreateRollout;
}

/** Objects reconciled at once; each mostly waits for the API server. */
const workers = 8;
/** Drift checks at once; a controller of their own, because changes must not queue behind checks. */
const driftWorkers = 2;

/** Wires the controllers of MultiNicNodeConfigs, drift checks and MultiNicBizConfigs. */
export function wireController({ values, makeRollout, ...base }: WiringOptions) {
  const { client, context, perform } = base;
  const { clock, metrics } = context;
  const { namespace, agentNamespace, startDeadlineMs } = values;
  const own = { ...base, ...context, namespace };
  const controllers = new Controllers({ ...base, part: 'controller' });
  const { recorder } = controllers;
  const stores = createStores();
  const { configs } = stores;
  const otherController = createOtherController({ ...stores, ...values, clock });
  const enqueue = (keys: readonly string[]): void => keys.forEach((key) => changes.enqueue(key));
  const { occupies: occupied } = otherController;
  const scheduling = createScheduling({ ...base, values, stores, occupied, makeRollout, enqueue });
  const { runner, jobs, pods, endChanges, refuse, rollout } = scheduling;
  const removals = createRemovals({ ...own, stores });
  const records = createNodeRecords({ ...own, stores, runner });
  const reporter = createReporter({ ...own, configs, recorder });
  const watches = createWatches({
    ...own,
    context,
    agentNamespace,
    nodeLabel: values.rolloutDomain,
    stores: { ...stores, jobs, pods, other: otherController },
  });
  const networkFacts = {
    published: createPublishedNetworks(own),
    nodes: { podCidrs: stores.podCidrs, listed: async () => watches.nodes.synced },
    onMissingRight: (message: string) => recordMissingRight(recorder, context.pod, message),
  };
  const clusterFacts = createClusterFacts({ ...own, ...values, ...networkFacts });
  const ages = new RecordAges(clock);
  const unready = new UnreadyNodes(clock);
  const facts = () => clusterFacts.current();
  const runs = { ...scheduling, ages, clock, metrics, startDeadlineMs, facts };
  const intervalMs = () => checkIntervalMs(values.checkIntervalMs, stores.withNics());
  const check = createCheck({ ...runs, intervalMs, policy: values.driftPolicy });
  const { version } = thisBuild();
  const nextRun = createNextRun({ ...runs, isCurrent: createIsCurrent(client), records, version });
  const finalizer = createFinalizer(client, perform);
  const { gate } = removals;
  const steps = { finalizer, gate, nextRun, endChanges, refuse, records, reporter };
  const shared = { ...own, stores, unready, ...steps };
  const turns = new Turns();
  const changes = controllers.define({
    name: controllerName,
    keyField: 'config',
    workers,
    reconcile: createReconciler({
      ...shared,
      otherController,
      runner,
      deletion: createDeletion({ ...shared, recordRemovals: removals.record }),
      scheduleCheck: createScheduleCheck(check, (key) => checks.enqueue(key)),
      turns,
      rollout,
      forget: (key) => {
        for (const memory of [ages, unready, reporter, gate, check]) memory.forget(key);
      },
    }),
    reflectors: watches.all,
    sources: createSources({ ...own, ...scheduling, stores, otherController, reporter }),
    onResult: ({ error }) => {
      if (error === undefined) lastProcessed = clock.now();
    },
  });
  const change = (key: string): void => changes.enqueue(key);
  const checks = controllers.define({
    name: 'drift',
    keyField: 'config',
    workers: driftWorkers,
    reconcile: createDriftReconciler({ ...shared, otherController, check, turns, change }),
    // The other controller watches all objects and enqueues their checks.
    reflectors: [],
    sources: [],
  });
  const listed = (): Promise<void> => watches.configs.synced;
  const countRemovals = removals.count;
  const kinds = defineBizConfigs(controllers, { ...base, stores, values, countRemovals, listed });
  sampleController(metrics, { configs, rollout, ...removals, runner });
  let lastProcessed: Date | undefined;
  return {
    controllers,
    lead: async (leading: AbortSignal): Promise<void> => {
      removals.ledger.begin();
      await controllers.run(leading, {
        around: async (run) => {
          await clusterFacts.begin(leading);
          await run();
        },
        tasks: { networks: async (end) => clusterFacts.run(end), ...kinds },
      });
    },
    /** For /healthz. */
    health: {
      clock,
      processed: stores.processed,
      reflector: watches.configs,
      runner,
      lastProcessed: () => lastProcessed,
    },
  };
}
