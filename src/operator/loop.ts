import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
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
import { BrokerSecrets } from './broker-secret/broker-secrets.ts';
import type { Authorities } from './credentials/account.ts';
import { createDeletionGuard } from './deletion/guard.ts';
import { createDeliveryRecords } from './deliver/legacy/delivery-records.ts';
import { UnansweredPosts } from './deliver/unanswered-posts.ts';
import type { Violas } from './deliver/violas.ts';
import { createInventory } from './inventory-records/inventory.ts';
import { Fleet } from './metrics/delivered-nodes.ts';
import { controllerName, sampleFleet } from './metrics/metrics.ts';
import { NotReady } from './metrics/not-ready.ts';
import { createNotifications } from './notifications/notifications.ts';
import { CloudViews } from './observe/cloud-view.ts';
import { asksForWork, type ConfigObject, openstackConfigs } from './openstack-config.ts';
import { createReconciler } from './reconcile.ts';
import { definitionOf } from './rights.ts';
import { CloudLooks } from './schedule/cloud-age.ts';
import { type Hint, takeHint } from './schedule/hints.ts';
import { Pace } from './schedule/poll-interval.ts';
import { Looks } from './schedule/scope.ts';
import { lanesOf, slowSyncMs, workers } from './schedule/worker-lanes.ts';
import type { OperatorSettings } from './settings.ts';
import { createStatusWriter } from './status/writer.ts';
import { mayBeCalled } from './triggers/settings.ts';
import { Triggers } from './triggers/triggers.ts';
import { watchTriggers } from './triggers/watch.ts';

export interface LoopOptions {
  readonly client: KubeClient;
  readonly settings: OperatorSettings;
  readonly context: PartContext<typeof metricTable>;
  readonly perform: Perform<Effect>;
  readonly store: Store;
  readonly clouds: Clouds;
  readonly violas: Violas;
  readonly authorities: Authorities;
  /** Ends what OpenstackConfigs wait for together. */
  readonly lifetime: AbortSignal;
}

/** Everything that works while this process leads, wired together. */
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
  const inventory = createInventory({ store, perform, clock, log, metrics });
  const unanswered = new UnansweredPosts(clock);
  const notReady = new NotReady(metrics);
  const views = new CloudViews(clock, lifetime);
  const looks = new Looks(clock);
  const fleet = new Fleet();
  const cloudLooks = new CloudLooks(clock);
  sampleFleet(metrics, fleet, cloudLooks);
  metrics.sampleEach('multinic_trigger_mode', () => [
    { labels: { mode: triggers.mode }, value: 1 },
  ]);
  const hint = (members: Iterable<string>, told: Hint): void => {
    if (!triggers.followsHints) return;
    for (const key of takeHint(members, told, { looks, views })) controller.enqueue(key);
  };
  const notifications = createNotifications({ ...options, ...context, onHint: hint });
  const brokerSecrets = new BrokerSecrets({
    isOn: settings.rabbitmqSecrets,
    client,
    recorder,
    perform,
    clock,
    log,
  });
  const writer = createStatusWriter({ client, recorder, perform, clock, notReady, notifications });
  const triggers = new Triggers({
    clock,
    log,
    writer,
    notReady,
    isCallable: mayBeCalled(settings),
  });
  const reconcile = createReconciler({
    ...options,
    clock,
    random,
    log,
    metrics,
    configs,
    writer,
    triggers,
    guard: createDeletionGuard({ client, configs, clock, definition: definitionOf(settings) }),
    inventory,
    records: createDeliveryRecords({ store, perform, clock }),
    unanswered,
    pace: new Pace({ clock, random }),
    views,
    notifications,
    brokerSecrets,
    looks,
    fleet,
    cloudLooks,
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
  /** How an object is after a reconcile, in the words of the earlier operator's metric. */
  function endOf(key: string): string {
    const object = configs.get(key);
    if (!object) return 'deleted';
    if (notReady.reasonsOf(key).size === 0) return 'success';
    return object.metadata.deletionTimestamp === undefined ? 'error' : 'deletion_error';
  }
  const controller = createController({
    name: controllerName,
    workers,
    lanes: lanesOf(configs),
    // A little later, so that a worker that goes on finds the places that slow syncs have given up by then.
    slowMs: slowSyncMs + 50,
    reconcile,
    reflectors: [reflector, policy],
    clock,
    random,
    sources: [sourceOf(configs, keysOf)],
    observer: countWork(metrics, controllerName),
    onResult: ({ key, error, durationMs }: ReconcileResult) => {
      const labels = { controller: controllerName };
      const result = error === undefined ? 'success' : 'error';
      const status = error === undefined ? endOf(key) : 'reconcile_error';
      metrics.count('multinic_reconcile_total', { ...labels, result, status });
      metrics.observe('multinic_reconcile_duration_seconds', labels, durationMs / 1000);
      if (error !== undefined)
        log.warn({ err: error, config: key }, 'reconcile failed, tried again');
    },
  });
  sampleWork(metrics, controllerName, controller);
  sampleSilence(metrics, reflector);

  return {
    run: async (leading: AbortSignal): Promise<void> =>
      recorder.during(leading, async () => {
        unanswered.lead();
        triggers.lead();
        for (const each of [notReady, fleet, cloudLooks]) each.clear();
        // An OpenstackConfig may have gone while nobody was there to see it.
        for (const author of await inventory.authors()) {
          if (isOurs(author, settings)) controller.enqueue(keyOf(author));
        }
        await notifications.during(leading, async () =>
          brokerSecrets.during(leading, async () => controller.run(leading)),
        );
      }),
    /** A cloud answers again: all that failed may go on. */
    wake: (): void => {
      if (!triggers.followsHints) return;
      for (const key of looks.failed()) controller.enqueue(key);
    },
    /** A process that waits for the lease is ready: it has nothing to do. */
    notReady: () =>
      reflector.state === 'listing' || reflector.state === 'waiting'
        ? 'the OpenstackConfigs could not be read yet'
        : undefined,
  };
}

/** A store may be shared with operators of other namespaces: what we do not watch is not gone. */
function isOurs(
  { namespace }: { readonly namespace: string },
  { watchNamespace }: OperatorSettings,
): boolean {
  return watchNamespace === undefined || namespace === watchNamespace;
}

/** Our own status writes ask for nothing: a change costs one sync, not three. */
function keysOf(change: Change<ConfigObject>): string[] {
  if (change.type !== 'updated') return [change.key];
  return asksForWork(change.previous, change.object) ? [change.key] : [];
}

/** What nobody here reads is not kept. */
function slim(object: ConfigObject): ConfigObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
