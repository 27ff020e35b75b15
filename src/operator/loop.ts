import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { annotations } from '../api/names.ts';
import { createReflector } from '../kube/cache/reflector.ts';
import { type Change, Store as ObjectStore } from '../kube/cache/store.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createEventRecorder } from '../kube/events.ts';
import { keyOf } from '../kube/object.ts';
import { createController, type ReconcileResult, sourceOf } from '../kube/reconcile/controller.ts';
import { countSteps, countWork, sampleSilence, sampleWork } from '../kube-metrics.ts';
import type { Clouds } from '../openstack/clouds.ts';
import type { Perform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import type { Store } from '../store/store.ts';
import { BrokerSecrets } from './cloud/broker-secret/broker-secrets.ts';
import { CloudAges } from './cloud/cloud-age.ts';
import type { Authorities } from './cloud/credentials/account.ts';
import { createNotifications } from './cloud/notifications/notifications.ts';
import { CloudViews } from './cloud/observe/cloud-view.ts';
import { createDeliveryRecords } from './clusters/deliver/legacy/delivery-records.ts';
import type { Violas } from './clusters/deliver/violas.ts';
import { createDeletionGuard } from './flow/deletion/guard.ts';
import { possibleSuccessors } from './flow/deletion/successors.ts';
import { createInventory } from './flow/inventory-records/inventory.ts';
import { type CloudEvent, noteCloudEvent } from './flow/schedule/cloud-events.ts';
import { pendingScope } from './flow/schedule/sync-scope.ts';
import { lanesOf, slowSyncMs, workers } from './flow/schedule/worker-lanes.ts';
import { PlanCache } from './flow/sync/plan-cache.ts';
import { Triggers } from './flow/triggers/triggers.ts';
import { watchTriggers } from './flow/triggers/watch.ts';
import { ManagementCluster } from './management-cluster.ts';
import { ConfigMemories } from './model/memory/config-memory.ts';
import { controllerName } from './model/metrics.ts';
import { type ConfigObject, needsReconcile, openstackConfigs } from './model/openstack-config.ts';
import type { OperatorSettings } from './model/settings/operator.ts';
import { mayBeCalled } from './model/settings/triggers.ts';
import { createReconciler } from './reconcile.ts';
import { sampleDelivered } from './report/metrics/metrics.ts';
import { sampleNotReady } from './report/metrics/not-ready.ts';
import { notReadyReasons } from './report/status/not-ready-reasons.ts';
import { createStatusWriter } from './report/status/writer.ts';
import { definitionOf } from './rights.ts';
import type { ReadDeps } from './serve/read-api/read-deps.ts';
import { withdrawReads } from './serve/read-api/reads-of-sync.ts';
import { createWhatIf } from './serve/what-if/what-if.ts';

export interface LoopOptions {
  readonly client: KubeClient;
  readonly settings: OperatorSettings;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
  readonly store: Store;
  readonly clouds: Clouds;
  readonly violas: Violas;
  readonly authorities: Authorities;
  /** Aborts the requests shared by several OpenstackConfigs. */
  readonly lifetime: AbortSignal;
}

/** Creates all components for a leading process. */
export function createLoop(options: LoopOptions) {
  const { client, settings, context, perform, store, lifetime } = options;
  const { clock, random, log, metrics } = context;
  const configs = new ObjectStore<ConfigObject>();
  const recorder = createEventRecorder({
    client: aroundWrites(client, (write) => perform('operator.event.write', write)),
    component: 'multinic-operator',
    clock,
    onError: (error) => log.warn({ err: error }, 'event not written'),
  });
  const management = new ManagementCluster(client, settings);
  const inventory = createInventory({ store, perform, clock, log, metrics });
  const records = createDeliveryRecords({ store, perform, clock });
  const views = new CloudViews(clock, lifetime);
  const cloudAges = new CloudAges(clock);
  metrics.sampleEach('multinic_trigger_mode', () => [
    { labels: { mode: triggers.mode }, value: 1 },
  ]);
  const onEvent = (members: Iterable<string>, event: CloudEvent): void => {
    if (!triggers.followsCloudEvents) return;
    for (const key of noteCloudEvent(members, event, { memories, views })) controller.enqueue(key);
  };
  const notifications = createNotifications({ ...options, ...context, onEvent });
  const brokerSecrets = new BrokerSecrets({
    isOn: settings.rabbitmqSecrets,
    client,
    recorder,
    perform,
    clock,
    log,
  });
  const plans = new PlanCache(clock);
  const memories = new ConfigMemories({
    clock,
    random,
    clouds: [views, notifications, cloudAges],
    others: [brokerSecrets, plans],
  });
  sampleDelivered(metrics, memories, cloudAges);
  sampleNotReady(metrics, memories);
  const writer = createStatusWriter({ client, recorder, perform, clock, notifications });
  const triggers = new Triggers({
    clock,
    log,
    writer,
    memories,
    isCallable: mayBeCalled(settings),
  });
  const reconcile = createReconciler({
    ...options,
    recorder,
    clock,
    random,
    log,
    metrics,
    configs,
    memories,
    writer,
    triggers,
    guard: createDeletionGuard({
      client,
      configs,
      memories,
      settings,
      clock,
      definition: definitionOf(settings),
    }),
    inventory,
    management,
    records,
    views,
    notifications,
    brokerSecrets,
    plans,
    cloudAges,
  });
  const whatIf = createWhatIf({
    ...options,
    clock,
    random,
    configs,
    memories,
    views,
    inventory,
    management,
    records,
  });
  const reflector = createReflector({
    client,
    resource: openstackConfigs,
    ...(settings.watchNamespace === undefined ? {} : { namespace: settings.watchNamespace }),
    store: configs,
    clock,
    random,
    transform: slim,
    onStep: countSteps(metrics, openstackConfigs.kind),
    onError: (error, retryInMs) =>
      log.warn({ err: error, retryInMs }, 'watch of OpenstackConfigs interrupted'),
  });
  const policy = watchTriggers({
    client,
    namespace: settings.namespace,
    recorder,
    clock,
    random,
    log,
    metrics,
    onPolicy: (now) => {
      triggers.use(now);
      for (const key of configs.keys()) controller.enqueue(key);
    },
  });
  /** Returns an object's state after a reconcile, named as in the legacy operator's metric. */
  function stateAfter(key: string): string {
    const object = configs.get(key);
    if (!object) return 'deleted';
    const memory = memories.find(key);
    if (memory === undefined || notReadyReasons.of(memory.term).size === 0) return 'success';
    return object.metadata.deletionTimestamp === undefined ? 'error' : 'deletion_error';
  }
  const controller = createController({
    name: controllerName,
    workers,
    lanes: lanesOf(configs),
    // Slightly above the lane limit (slowSyncMs): the next worker then finds the lane slots released by slow
    // syncs.
    slowMs: slowSyncMs + 50,
    reconcile,
    reflectors: [reflector, policy],
    clock,
    random,
    sources: [sourceOf(configs, (change) => keysOf(change, { configs, settings }))],
    observer: countWork(metrics, controllerName),
    onResult: ({ key, error, durationMs }: ReconcileResult) => {
      const labels = { controller: controllerName };
      const result = error === undefined ? 'success' : 'error';
      const status = error === undefined ? stateAfter(key) : 'reconcile_error';
      metrics.count('multinic_reconcile_total', { ...labels, result, status });
      metrics.observe('multinic_reconcile_duration_seconds', labels, durationMs / 1000);
      if (error !== undefined)
        log.warn({ err: error, config: key }, 'reconcile failed, will retry');
    },
  });
  sampleWork(metrics, controllerName, controller);
  sampleSilence(metrics, reflector);

  const reads: ReadDeps = { ...options, clock, configs, memories, triggers, management };
  return {
    /** Input for the read API. */
    reads,
    /** Input of the routes for plans. */
    planRoutes: { configs, memories, settings, whatIf },
    run: async (leading: AbortSignal): Promise<void> =>
      recorder.during(leading, async () => {
        memories.startTerm();
        cloudAges.clear();
        // An OpenstackConfig may have been deleted while no operator ran.
        for (const author of await inventory.authors()) {
          if (isWatched(author, settings)) controller.enqueue(keyOf(author));
        }
        try {
          await notifications.during(leading, async () =>
            brokerSecrets.during(leading, async () => controller.run(leading)),
          );
        } finally {
          withdrawReads(memories);
        }
      }),
    /** Retries every failed sync, because a cloud answers again. */
    wake: (): void => {
      if (!triggers.followsCloudEvents) return;
      for (const [key, memory] of memories) {
        if (pendingScope.of(memory).hasFailed) controller.enqueue(key);
      }
    },
    /** Returns why this process is not ready; undefined: ready. A process waiting for the lease is ready. */
    notReady: () =>
      reflector.state === 'listing' || reflector.state === 'waiting'
        ? 'the OpenstackConfigs could not be read yet'
        : undefined,
  };
}

/**
 * Returns whether this operator watches the namespace: operators for different namespaces may share a store.
 */
function isWatched(
  { namespace }: { readonly namespace: string },
  { watchNamespace }: OperatorSettings,
): boolean {
  return watchNamespace === undefined || namespace === watchNamespace;
}

/**
 * Returns no key for the operator's own status writes: a change costs one sync, not three. A deletion also syncs
 * possible successors.
 */
function keysOf(
  change: Change<ConfigObject>,
  deps: Parameters<typeof possibleSuccessors>[1],
): string[] {
  if (change.type !== 'updated') return [change.key];
  const { key, previous, object } = change;
  if (isDeleted(object) && !isDeleted(previous)) {
    return [...possibleSuccessors(object, deps).map(keyOf), key];
  }
  return needsReconcile(previous, object) || asksForChecks(previous, object) ? [key] : [];
}

function isDeleted({ metadata }: ConfigObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Returns whether a check-nodes request has changed; such a request needs no sync. */
function asksForChecks(before: ConfigObject, now: ConfigObject): boolean {
  const name = annotations.checkNodes;
  return before.metadata.annotations?.[name] !== now.metadata.annotations?.[name];
}

/** Drops managedFields, which the operator does not read, to save memory. */
function slim(object: ConfigObject): ConfigObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
