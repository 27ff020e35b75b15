import { Store as ObjectStore } from '../kube/cache/store.ts';
import { keyOf } from '../kube/object.ts';
import { sourceOf } from '../kube/reconcile/controller.ts';
import type { Clouds } from '../openstack/clouds.ts';
import { Controllers, type ControllersOptions } from '../runtime/controllers.ts';
import type { Store } from '../store/store.ts';
import { BrokerSecrets } from './cloud/broker-secret/broker-secrets.ts';
import { CloudAges } from './cloud/cloud-age.ts';
import type { Authorities } from './cloud/credentials/account.ts';
import { createNotifications } from './cloud/notifications/notifications.ts';
import { CloudViews } from './cloud/observe/cloud-view.ts';
import { createDeliveryRecords } from './clusters/deliver/legacy/delivery-records.ts';
import type { Violas } from './clusters/deliver/violas.ts';
import { createDeletionGuard } from './flow/deletion/guard.ts';
import { createInventory } from './flow/inventory-records/inventory.ts';
import { NodeEvidenceReader } from './flow/node-evidence/node-evidence.ts';
import { type CloudEvent, noteCloudEvent } from './flow/schedule/cloud-events.ts';
import { pendingScope } from './flow/schedule/sync-scope.ts';
import { lanesOf, slowSyncMs, workers } from './flow/schedule/worker-lanes.ts';
import { PlanCache } from './flow/sync/plan-cache.ts';
import { keysToSync, watchConfigs } from './flow/triggers/config-watch.ts';
import { Triggers } from './flow/triggers/triggers.ts';
import { watchTriggers } from './flow/triggers/watch.ts';
import { ManagementCluster } from './management-cluster.ts';
import { ConfigMemories } from './model/memory/config-memory.ts';
import { controllerName } from './model/metrics.ts';
import type { ConfigObject } from './model/openstack-config.ts';
import type { OperatorSettings } from './model/settings/operator.ts';
import { mayBeCalled } from './model/settings/triggers.ts';
import { createReconciler } from './reconcile.ts';
import { sampleDelivered } from './report/metrics/metrics.ts';
import { sampleNotReady } from './report/metrics/not-ready.ts';
import { notReadyReasons } from './report/status/not-ready-reasons.ts';
import { createStatusWriter } from './report/status/writer.ts';
import { definitionOf } from './rights.ts';
import { withdrawReads } from './serve/read-api/reads-of-sync.ts';
import { createWhatIf } from './serve/what-if/what-if.ts';

export interface WiringOptions extends Omit<ControllersOptions, 'part'> {
  readonly settings: OperatorSettings;
  readonly store: Store;
  readonly clouds: Clouds;
  readonly violas: Violas;
  readonly authorities: Authorities;
  /** Aborts the requests shared by several OpenstackConfigs. */
  readonly lifetime: AbortSignal;
}

/** Wires the OpenstackConfig controller, and reads and what-ifs about its syncs. */
export function wireOperator(options: WiringOptions) {
  const { client, settings, context, perform, store, lifetime } = options;
  const { clock, random, log, metrics } = context;
  const controllers = new Controllers({ ...options, part: 'operator' });
  const { recorder } = controllers;
  const configs = new ObjectStore<ConfigObject>();
  const views = new CloudViews(clock, lifetime);
  const cloudAges = new CloudAges(clock);
  const onEvent = (members: Iterable<string>, event: CloudEvent): void => {
    if (!triggers.followsCloudEvents) return;
    for (const key of noteCloudEvent(members, event, { memories, views })) controller.enqueue(key);
  };
  const notifications = createNotifications({ ...options, ...context, onEvent });
  const writes = { client, recorder, perform, clock, log };
  const brokerSecrets = new BrokerSecrets({ ...writes, isOn: settings.rabbitmqSecrets });
  const plans = new PlanCache(clock);
  const clouds = [views, notifications, cloudAges];
  const others = [brokerSecrets, plans];
  const memories = new ConfigMemories({ clock, random, clouds, others });
  const writer = createStatusWriter({ ...writes, notifications });
  const isCallable = mayBeCalled(settings);
  const triggers = new Triggers({ clock, log, writer, memories, isCallable });
  const inventory = createInventory({ store, perform, clock, log, metrics });
  const shared = {
    ...options,
    ...context,
    configs,
    memories,
    views,
    inventory,
    management: new ManagementCluster(client, settings),
    records: createDeliveryRecords({ store, perform, clock }),
    triggers,
  };
  const guard = createDeletionGuard({ ...shared, definition: definitionOf(settings) });
  const steps = {
    ...shared,
    recorder,
    writer,
    guard,
    notifications,
    brokerSecrets,
    plans,
    cloudAges,
  };
  const nodeEvidence = new NodeEvidenceReader(steps);
  const policy = watchTriggers({
    ...shared,
    context,
    namespace: settings.namespace,
    recorder,
    onPolicy: (now) => {
      triggers.use(now);
      for (const key of configs.keys()) controller.enqueue(key);
    },
  });
  const { watchNamespace } = settings;
  const controller = controllers.define({
    name: controllerName,
    keyField: 'config',
    workers,
    lanes: lanesOf(configs),
    // Slightly above the lane limit (slowSyncMs): the next worker then finds the lane slots released by slow syncs.
    slowMs: slowSyncMs + 50,
    reconcile: createReconciler(steps),
    reflectors: [watchConfigs({ client, context, configs, watchNamespace }), policy],
    sources: [sourceOf(configs, (change) => keysToSync(change, { configs, settings }))],
    stateAfter: (key) => stateAfter(configs.get(key), memories),
  });
  sampleDelivered(metrics, memories, cloudAges);
  sampleNotReady(metrics, memories);
  const triggerMode = () => [{ labels: { mode: triggers.mode }, value: 1 }];
  metrics.sampleEach('multinic_trigger_mode', triggerMode);

  async function begin(): Promise<void> {
    memories.startTerm();
    cloudAges.clear();
    // An OpenstackConfig may have been deleted while no operator ran; operators for different namespaces may share a store.
    for (const author of await inventory.authors()) {
      if ((watchNamespace ?? author.namespace) === author.namespace)
        controller.enqueue(keyOf(author));
    }
  }

  return {
    controllers,
    /** Input for the read API. */
    reads: shared,
    /** Input for the plan routes. */
    planRoutes: { configs, memories, settings, whatIf: createWhatIf(shared) },
    lead: async (leading: AbortSignal): Promise<void> => {
      const around = async (run: () => Promise<void>): Promise<void> => {
        await begin();
        await duringAll([notifications, nodeEvidence, brokerSecrets], leading, run);
      };
      await controllers.run(leading, { around }).finally(() => withdrawReads(memories));
    },
    /** Retries every failed sync, because a cloud answers again. */
    wake: (): void => {
      if (!triggers.followsCloudEvents) return;
      for (const [key, memory] of memories) {
        if (pendingScope.of(memory).hasFailed) controller.enqueue(key);
      }
    },
  };
}

interface Accompanying {
  during(leading: AbortSignal, work: () => Promise<void>): Promise<void>;
}

/** Runs the work with everything that accompanies a leadership term. */
async function duringAll(
  [first, ...rest]: readonly Accompanying[],
  leading: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  if (!first) return work();
  return first.during(leading, async () => duringAll(rest, leading, work));
}

/** Returns an object's state after a reconcile, named as in the legacy operator's metric. */
function stateAfter(
  object: ConfigObject | undefined,
  memories: Pick<ConfigMemories, 'find'>,
): string {
  if (!object) return 'deleted';
  const memory = memories.find(keyOf(object));
  if (memory === undefined || notReadyReasons.of(memory.term).size === 0) return 'success';
  return object.metadata.deletionTimestamp === undefined ? 'error' : 'deletion_error';
}
