import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createEventRecorder } from '../kube/events.ts';
import { keyOf } from '../kube/object.ts';
import { createController, type ReconcileResult, sourceOf } from '../kube/reconcile/controller.ts';
import { together } from '../kube/reconcile/together.ts';
import { countWork, sampleSilence, sampleWork } from '../kube-metrics.ts';
import type { Perform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import type { Values } from '../process/settings.ts';
import { thisBuild } from '../process/version.ts';
import { createBizConfigLoop } from './biz-config/loop.ts';
import { createDeletion } from './deletion/deletion.ts';
import { createFinalizer } from './deletion/finalizer.ts';
import { createCheck } from './drift/check-task.ts';
import { createDriftReconciler } from './drift/drift-reconciler.ts';
import { checkIntervalMs } from './drift/interval.ts';
import { createScheduleCheck } from './drift/next-check.ts';
import { Turns } from './drift/turns.ts';
import { RecordAges } from './jobs/applied.ts';
import { createJobRunner, createJobStore, createPodStore } from './jobs/job-runner.ts';
import { gaugeStates, sampleRemovals, sampleRollout } from './metrics.ts';
import { createClusterFacts } from './networks/cluster-facts.ts';
import { createPublishedNetworks } from './networks/published.ts';
import { createStores } from './objects/stores.ts';
import { createReconciler } from './reconcile.ts';
import { createNodeRecords } from './records/node-records.ts';
import { createBudget } from './removals/budget.ts';
import { createCountRemovals } from './removals/count-removals.ts';
import { createGate } from './removals/gate.ts';
import { createRemovalLedger } from './removals/ledger.ts';
import { createRecordRemovals } from './removals/ledger-entry.ts';
import { createAdmission } from './scheduling/admission.ts';
import { createDispatch } from './scheduling/dispatch.ts';
import { createIsCurrent } from './scheduling/is-current.ts';
import { createNextRun } from './scheduling/next-run.ts';
import { createRefuse } from './scheduling/refuse.ts';
import { createRollout } from './scheduling/rollout-budget.ts';
import { type controllerSettings, jobTemplateOf, limitOf } from './settings.ts';
import { recordMissingRight } from './status/events.ts';
import { controllerName, createReporter } from './status/report.ts';
import { createOtherController } from './watch/legacy-controller.ts';
import {
  keysOfConfig,
  keysOfJob,
  keysOfLegacyJob,
  keysOfNode,
  keysOfPod,
  keysOfWorkload,
} from './watch/triggers.ts';
import { createWatches } from './watch/watches.ts';

type ControllerValues = Values<typeof controllerSettings>;

export interface LoopOptions {
  readonly client: KubeClient;
  readonly values: ControllerValues;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
  /** Default: the rollout budget. Benchmarks replace the rollout budget to measure its cost. */
  readonly makeRollout?: CreateRollout;
}

export type CreateRollout = typeof createRollout;

/** Number of objects reconciled at once; each mostly waits for the API server. */
const workers = 8;
/** Number of concurrent drift checks; a separate pool, because changes must not queue behind checks. */
const driftWorkers = 2;
/** Name of the drift controller in metrics. */
const driftControllerName = 'drift';

/** Wires all components that run while this process is the leader. */
export function createLoop(options: LoopOptions) {
  const { client, values, context, perform, makeRollout = createRollout } = options;
  const { clock, random, log, metrics } = context;
  const stores = createStores();
  const { configs } = stores;
  const [jobs, pods] = [createJobStore(), createPodStore()];
  const { foreign } = stores;
  const otherController = createOtherController({ takeOver: values.takeOver, foreign, clock });
  const runner = createJobRunner({ client, jobs, pods, perform, template: jobTemplateOf(values) });
  const rollout = makeRollout({
    configs,
    nodes: stores.nodes,
    image: values.agentImage,
    domainLabel: values.rolloutDomain,
    hasJob: (name) =>
      jobs.versionOf(keyOf({ namespace: values.agentNamespace, name })) !== undefined,
    openJobs: () => runner.open().map(({ name }) => name),
    clock,
    wake: (keys) => enqueueAll(keys),
    onImageProven: () => enqueueAll(admission.wake()),
  });
  const admission = createAdmission({
    runner,
    nodes: stores.nodes,
    occupied: otherController.occupies,
    limit: () => limitOf(values.maxInFlight, stores.nodes.size),
    isImageProven: rollout.isImageProven,
  });
  const recorder = createEventRecorder({
    client: aroundWrites(client, (write) => perform('controller.event.write', write)),
    component: 'multinic-controller',
    clock,
    onError: (error) => log.warn({ err: error }, 'event not written'),
  });
  const { namespace, startDeadlineMs } = values;
  const records = createNodeRecords({ client, perform, stores, runner, namespace });
  const ages = new RecordAges(clock);
  const dispatch = createDispatch({ runner, admission, rollout, metrics, log });
  const reporter = createReporter({ client, configs, recorder, metrics, perform, clock });
  const turns = new Turns();
  const clusterFacts = createClusterFacts({
    client,
    published: createPublishedNetworks({ client, namespace, perform }),
    serviceCIDRs: values.serviceCIDRs,
    podNetworks: values.podNetworks,
    nodes: { podCidrs: stores.podCidrs, listed: async () => watches.nodes.synced },
    clock,
    random,
    log,
    onMissingRight: (message) => recordMissingRight(recorder, context.pod, message),
  });
  const facts = () => clusterFacts.current();
  const check = createCheck({
    runner,
    dispatch,
    ages,
    clock,
    metrics,
    startDeadlineMs,
    facts,
    intervalMs: () => checkIntervalMs(values.checkIntervalMs, stores.withNics()),
    policy: values.driftPolicy,
  });
  const ledger = createRemovalLedger({ client, namespace, perform, clock });
  const budget = createBudget({ stores, ledger, clock });
  budget.follow(configs);
  const finalizer = createFinalizer(client, perform);
  const refuse = createRefuse(runner, random);
  const gate = createGate({ client, budget, ledger, namespace, clock });
  const nextRun = createNextRun({
    runner,
    dispatch,
    rollout,
    isCurrent: createIsCurrent(client),
    records,
    version: thisBuild().version,
    facts,
    startDeadlineMs,
    ages,
    clock,
    metrics,
  });
  const reconcile = createReconciler({
    stores,
    otherController,
    runner,
    finalizer,
    deletion: createDeletion({
      client,
      stores,
      finalizer,
      gate,
      nextRun,
      refuse,
      recordRemovals: createRecordRemovals(ledger, clock),
      records,
      reporter,
      clock,
      random,
    }),
    gate,
    records,
    refuse,
    nextRun,
    scheduleCheck: createScheduleCheck(check, (key) => drift.enqueue(key)),
    turns,
    rollout,
    reporter,
    random,
    forget: (key) => {
      for (const memory of [ages, reporter, gate, check]) memory.forget(key);
    },
  });
  const enqueueAll = (keys: readonly string[]): void => {
    for (const key of keys) controller.enqueue(key);
  };
  const watches = createWatches({
    client,
    context,
    namespace,
    agentNamespace: values.agentNamespace,
    nodeLabel: values.rolloutDomain,
    stores: { ...stores, jobs, pods, other: otherController },
  });

  const agents = {
    admission,
    namespace,
    recordsOf: stores.recordsOf,
    configs: stores.configDirectory,
  };
  let lastProcessed: Date | undefined;
  const controller = createController({
    name: controllerName,
    workers,
    reconcile,
    reflectors: watches.all,
    clock,
    random,
    sources: [
      sourceOf(configs, (change) => (reporter.wrote(change) ? [] : keysOfConfig(stores, change))),
      sourceOf(stores.nodes, (change) => keysOfNode(stores, admission, change)),
      sourceOf(jobs, (change) => keysOfJob(agents, change)),
      sourceOf(pods, (change) => keysOfPod(agents, change)),
      sourceOf(otherController.jobs, (change) => keysOfLegacyJob(stores, admission, change)),
      sourceOf(otherController.pods, (change) => keysOfWorkload(stores, change)),
    ],
    observer: countWork(metrics, controllerName),
    onResult: ({ key, error, durationMs }: ReconcileResult) => {
      const labels = { controller: controllerName };
      const result = error === undefined ? 'success' : 'error';
      const status = error === undefined ? 'success' : 'reconcile_error';
      metrics.count('multinic_reconcile_total', { ...labels, result, status });
      metrics.observe('multinic_reconcile_duration_seconds', labels, durationMs / 1000);
      if (error === undefined) lastProcessed = clock.now();
      else log.warn({ err: error, config: key }, 'reconcile failed, retrying');
    },
  });
  const drift = createController({
    name: driftControllerName,
    workers: driftWorkers,
    reconcile: createDriftReconciler({
      stores,
      otherController,
      reporter,
      check,
      turns,
      change: (key) => controller.enqueue(key),
    }),
    // No watches: the main controller watches all objects and enqueues drift checks.
    reflectors: [],
    sources: [],
    clock,
    random,
    observer: countWork(metrics, driftControllerName),
    onResult: ({ key, error }) => {
      if (error !== undefined) log.warn({ err: error, config: key }, 'check failed, retrying');
    },
  });
  const bizConfigs = createBizConfigLoop({
    client,
    context,
    perform,
    recorder,
    stores,
    values,
    countRemovals: createCountRemovals(budget, ledger),
    listed: () => watches.configs.synced,
  });
  gaugeStates(configs, metrics);
  sampleRollout(metrics, rollout);
  sampleRemovals(metrics, budget, ledger);
  metrics.sample('multinic_jobs_active', {}, () => runner.open().length);
  sampleWork(metrics, controllerName, controller);
  sampleWork(metrics, driftControllerName, drift);
  for (const reflector of watches.all) sampleSilence(metrics, reflector);

  return {
    run: (leading: AbortSignal) => {
      ledger.begin();
      return recorder.during(leading, async () => {
        await clusterFacts.begin(leading);
        return together(leading, clock, {
          changes: (end) => controller.run(end),
          checks: (end) => drift.run(end),
          networks: (end) => clusterFacts.run(end),
          ...(bizConfigs && { bizConfigs: bizConfigs.run }),
        });
      });
    },
    /** A process without the lease is ready: its watches have not started. */
    notReady: () => {
      const late = watches.all.filter(({ state }) => state === 'listing' || state === 'waiting');
      return late.length === 0
        ? undefined
        : `${late.length} ${late.length === 1 ? 'watch is' : 'watches are'} not up to date`;
    },
    processed: stores.processed,
    reflector: watches.configs,
    runner,
    lastProcessed: () => lastProcessed,
  };
}
