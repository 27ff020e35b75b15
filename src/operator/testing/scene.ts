import { metricTable } from '../../api/metrics.ts';
import type { OpenstackConfigSpec, OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import type { EventNote } from '../../kube/event-object.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import type { Clouds } from '../../openstack/clouds.ts';
import { nothingHappened } from '../../openstack/notifications/envelope.ts';
import { createPerform, type Perform } from '../../process/effects.ts';
import { createLogger } from '../../process/log.ts';
import { createMetrics } from '../../process/metrics.ts';
import { readSettings } from '../../process/settings.ts';
import { systemAuthorities } from '../../requests/ca-bundle.ts';
import { Store } from '../../store/store.ts';
import { createFakeClock, type FakeClock, settled } from '../../time/fake-clock.ts';
import { readPolicy } from '../../triggers/policy.ts';
import { CloudAges } from '../cloud/cloud-age.ts';
import { CloudViews } from '../cloud/observe/cloud-view.ts';
import { createDeliveryRecords } from '../clusters/deliver/legacy/delivery-records.ts';
import { behindGate } from '../clusters/deliver/observe-gate.ts';
import type { Violas } from '../clusters/deliver/violas.ts';
import { createDeletionGuard } from '../flow/deletion/guard.ts';
import { createInventory } from '../flow/inventory-records/inventory.ts';
import { NodeEvidenceReader } from '../flow/node-evidence/node-evidence.ts';
import { type CloudEvent, noteCloudEvent } from '../flow/schedule/cloud-events.ts';
import { PlanCache } from '../flow/sync/plan-cache.ts';
import { Triggers } from '../flow/triggers/triggers.ts';
import { ManagementCluster } from '../management-cluster.ts';
import { ConfigMemories } from '../model/memory/config-memory.ts';
import { statusOf } from '../model/openstack-config.ts';
import { type OperatorSettings, operatorSettings } from '../model/settings/operator.ts';
import { mayBeCalled } from '../model/settings/triggers.ts';
import { createReconciler } from '../reconcile.ts';
import { sampleDelivered } from '../report/metrics/metrics.ts';
import { sampleNotReady } from '../report/metrics/not-ready.ts';
import { createStatusWriter } from '../report/status/writer.ts';
import { definitionOf } from '../rights.ts';
import type { ReadDeps } from '../serve/read-api/read-deps.ts';
import { createWhatIf } from '../serve/what-if/what-if.ts';
import { FakeBrokerSecrets } from './fake-broker-secrets.ts';
import { FakeCloud } from './fake-cloud.ts';
import { FakeClouds } from './fake-clouds.ts';
import { FakeKube } from './fake-kube.ts';
import { FakeNotifications } from './fake-notifications.ts';
import { FakeViola } from './fake-viola.ts';

export const serverIds = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const key = 'multinic-system/osc';
/** Longest delay (ms) of retries and follow-up syncs; polls are further apart. */
const followsMs = 5_000;
/** Milliseconds between evidence checks. */
const nodeTickMs = 5_000;
const { signal } = new AbortController();

export const spec: OpenstackConfigSpec = {
  subnetIDs: ['sub-a'],
  vmNames: serverIds.slice(0, 2),
  credentials: { openstackProviderID: 'cloud-1', k8sProviderID: 'biz-1', projectID: 'project-1' },
};

export const environment: Readonly<Record<string, string>> = {
  CONTRABASS_ENDPOINT: 'https://contrabass.test',
  CONTRABASS_ENCRYPT_KEY: '0123456789abcdef',
  VIOLA_ENDPOINT: 'https://viola.test',
  DELETION_DELAY: '0s',
};

/** In-memory parts for use by real parts. */
interface Within {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly perform: Perform<string>;
}

/** Real parts that replace in-memory parts. */
export interface Outside {
  readonly clouds?: (settings: OperatorSettings) => Clouds;
  readonly violas?: (settings: OperatorSettings, within: Within) => Violas;
}

/** Without jitter. */
const random = () => 0.5;

/**
 * Creates an OpenstackConfig's environment: two servers selected from a cloud with three, a Viola and an API server,
 * all in memory.
 */
export async function setScene(
  env: Readonly<Record<string, string>> = environment,
  outside: Outside = {},
) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ part: 'test', level: 'info', destination });
  const cloud = new FakeCloud();
  const viola = new FakeViola();
  const clouds = new FakeClouds(cloud);
  const kube = new FakeKube();
  const notifications = new FakeNotifications();
  const brokerSecrets = new FakeBrokerSecrets();
  const metrics = createMetrics(metricTable);
  const store = await Store.open({ kind: 'sqlite', path: ':memory:' }, { now: () => clock.now() });
  const otherViolas = new Map<string, FakeViola>();
  const events: EventNote[] = [];
  const asked: string[] = [];
  const effects: string[] = [];
  let death: { readonly at: number; readonly error: Error } | undefined;
  const perform = createPerform<string>((name, phase) => {
    const at = effects.push(`${phase} ${name}`) - 1;
    // A killed process writes nothing.
    if (death && at >= death.at) throw death.error;
  });
  furnish(cloud);

  let storeFailure: Error | undefined;
  const breakable = new Proxy(store, {
    get: (target, name: keyof Store) => {
      const method = target[name] as (...values: unknown[]) => Promise<unknown>;
      return async (...values: unknown[]) => {
        if (storeFailure) throw storeFailure;
        return method.apply(target, values);
      };
    },
  });

  const cloudAges = new CloudAges(clock);
  let trigger = '';
  let currentEnv = env;
  function makeReconciler() {
    const views = new CloudViews(clock, signal);
    const plans = new PlanCache(clock);
    const memories = new ConfigMemories({
      clock,
      random,
      clouds: [views, notifications, cloudAges],
      others: [brokerSecrets, plans],
    });
    sampleDelivered(metrics, memories, cloudAges);
    sampleNotReady(metrics, memories);
    const recorder = { record: (_object: unknown, note: EventNote) => void events.push(note) };
    const writer = createStatusWriter({
      client: kube,
      recorder,
      perform,
      clock,
      notifications,
    });
    const settings = readSettings(operatorSettings, { env: currentEnv, flags: {} });
    const isCallable = mayBeCalled(settings);
    const triggers = new Triggers({ clock, log, writer, memories, isCallable });
    triggers.use(readPolicy(trigger));
    const definition = definitionOf(settings);
    const shared = {
      client: kube,
      recorder,
      configs: kube.configs,
      memories,
      settings,
      guard: createDeletionGuard({
        client: kube,
        configs: kube.configs,
        memories,
        settings,
        definition,
        clock,
      }),
      authorities: { contrabass: systemAuthorities, openstack: systemAuthorities },
      clouds: outside.clouds?.(settings) ?? clouds,
      views,
      notifications,
      brokerSecrets,
      plans,
      cloudAges,
      violas: outside.violas?.(settings, { store: breakable, clock, perform }) ?? {
        of: async (endpoint, providerId) => {
          asked.push(`${endpoint.url} ${providerId}`);
          const fake = otherViolas.get(providerId) ?? viola;
          return behindGate(fake, endpoint, {
            providerId,
            features: async () => fake.listFeatures(),
          });
        },
        clusters: async () => viola.listClusters(),
        facts: async (endpoint, provider) => {
          const { networks: clusterNetworks, storesIdentity, sameClusterIds: ids } = viola;
          const others = ids.has(provider) ? [...ids].filter((id) => id !== provider) : [];
          const listed = viola.featuresOutage ? undefined : viola.features;
          const supportsAdoption = listed?.includes('adopt');
          const isKnown = endpoint.adopts && supportsAdoption !== undefined;
          const adoption = isKnown ? { supportsAdoption } : {};
          const facts = { clusterNetworks, storesIdentity, sameClusterIds: others };
          return Promise.resolve({ ...facts, ...adoption });
        },
        noteSameCluster: (_, provider, ids) => {
          for (const id of ids) viola.sameClusterIds.add(provider).add(id);
        },
        [Symbol.asyncDispose]: async () => undefined,
      },
      management: new ManagementCluster(kube, settings),
      inventory: createInventory({ store: breakable, perform, clock, log, metrics }),
      records: createDeliveryRecords({ store: breakable, perform, clock }),
      writer,
      triggers,
      perform,
      clock,
      random,
      log,
      metrics,
    };
    const planRoutes = { configs: kube.configs, memories, settings, whatIf: createWhatIf(shared) };
    const reconciler = createReconciler(shared);
    const nodeEvidence = new NodeEvidenceReader(shared);
    return {
      reconcile: reconciler,
      triggers,
      memories,
      views,
      planRoutes,
      readDeps: shared,
      nodeEvidence,
    };
  }
  let { reconcile, triggers, memories, views, planRoutes, readDeps, nodeEvidence } =
    makeReconciler();
  const reconcileAfter = async (ms: number) => {
    await clock.advance(ms);
    return (await reconcile(key, signal))?.requeueAfterMs;
  };

  return {
    clock,
    cloud,
    clouds,
    viola,
    notifications,
    brokerSecrets,
    /** Violas of further business clusters. */
    otherViolas,
    kube,
    store,
    events,
    /** Connections to Violas, each with its business cluster. */
    asked,
    effects,
    metrics,
    /** Input of the routes for plans. */
    planRoutes: () => planRoutes,
    memory: () => memories.find(key),
    /** Log lines, one JSON object each. */
    lines,
    /** Sets the content of `trigger.yaml`. */
    trigger: (text: string) => {
      trigger = text;
      triggers.use(readPolicy(text));
    },
    /** Syncs after a pause, with follow-up syncs; returns the milliseconds until the next sync. */
    look: async (afterMs = 15_000) => {
      let nextMs = await reconcileAfter(afterMs);
      while (nextMs !== undefined && nextMs <= followsMs) {
        if (kube.configs.get(key)?.metadata.deletionTimestamp) return nextMs;
        nextMs = await reconcileAfter(nextMs);
      }
      return nextMs;
    },
    /** Syncs the OpenstackConfig `namespace/name`. */
    lookAt: async (other: string) => reconcile(other, signal),
    /** Input for the read API. */
    readDeps: (): ReadDeps => readDeps,
    /** Passes time with Viola's minute reads and without syncs. */
    readNodes: async (ms: number) => {
      for (let passedMs = 0; passedMs < ms; passedMs += nodeTickMs) {
        await clock.advance(Math.min(nodeTickMs, ms - passedMs));
        // A hanging read ends only as time passes.
        await Promise.race([nodeEvidence.tick(signal), settled()]);
      }
    },
    /** Reconciles once after a pause; returns the milliseconds until the next reconcile. */
    reconcile: reconcileAfter,
    /** Notes a cloud event; returns whether the OpenstackConfig is synced now. */
    cloudEvent: (what: Partial<CloudEvent>) => {
      return noteCloudEvent([key], { ...nothingHappened, ...what }, { memories, views }).length > 0;
    },
    /** Fails before or after the n-th write (both count), as a kill does. */
    killAt: (at: number, error: Error) => {
      death = { at, error };
    },
    /** Fails every call of the store; undefined: the store works again. */
    failStore: (error: Error | undefined) => {
      storeFailure = error;
    },
    /** Starts a new term, after a term of another replica. */
    leadAgain: () => memories.startTerm(),
    /** Restarts the operator: in-memory state is lost, and the settings may change. */
    restart: (changedEnv: Readonly<Record<string, string>> = env) => {
      currentEnv = changedEnv;
      death = undefined;
      ({ reconcile, triggers, memories, views, planRoutes, readDeps, nodeEvidence } =
        makeReconciler());
    },
    create: (change: Partial<OpenstackConfigSpec> = {}, meta: Partial<ObjectMeta> = {}) =>
      kube.create({ ...spec, ...change }, meta),
    edit: (change: Partial<OpenstackConfigSpec>) => kube.edit({ ...spec, ...change }),
    object: () => kube.configs.get(key),
    status: (): OpenstackConfigStatus =>
      statusOf(kube.configs.get(key) ?? { metadata: { name: '' } }),
    ready: () => {
      const status = statusOf(kube.configs.get(key) ?? { metadata: { name: '' } });
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      return `${ready?.status} ${ready?.reason}: ${ready?.message}`;
    },
    condition: (type: string) =>
      statusOf(kube.configs.get(key) ?? { metadata: { name: '' } }).conditions?.find(
        (one) => one.type === type,
      ),
    nics: (node: string) =>
      (viola.nodes.get(node)?.spec.interfaces ?? []).map(({ name, portId }) => `${name}=${portId}`),
    [Symbol.asyncDispose]: async () => store[Symbol.asyncDispose](),
  };
}

export type Scene = Awaited<ReturnType<typeof setScene>>;

/** Attaches a port in a network that the business cluster uses for Services. */
export function attachOverlapping({ cloud, viola }: Scene, n: number, server: number): void {
  viola.networks = [{ cidr: '10.0.0.0/8', use: 'Services', source: 'ServiceCIDR' }];
  attach(cloud, n, server);
}

/** Adds port `pN` to the n-th server, in subnet sub-a. */
export function attach(cloud: FakeCloud, n: number, server: number): void {
  cloud.ports.push({
    id: `p${n}`,
    name: '',
    networkId: 'net-a',
    macAddress: `fa:16:3e:00:00:${n.toString(16).padStart(2, '0')}`,
    status: 'ACTIVE',
    deviceId: serverIds[server - 1] ?? '',
    deviceOwner: 'compute:nova',
    createdAt: '2026-01-01T00:00:10Z',
    revisionNumber: 1,
    projectId: 'project-1',
    fixedIps: [{ subnetId: 'sub-a', ipAddress: `10.0.10.${n}` }],
  });
}

/** Detaches port `pN` from its server; with `gone`, deletes the port. */
export function detach(cloud: FakeCloud, n: number, gone = true): void {
  const rest = cloud.ports.filter(({ id }) => id !== `p${n}`);
  const port = cloud.ports.find(({ id }) => id === `p${n}`);
  const revisionNumber = (port?.revisionNumber ?? 0) + 1;
  cloud.ports =
    gone || !port ? rest : [...rest, { ...port, revisionNumber, deviceId: '', status: 'DOWN' }];
}

function furnish(cloud: FakeCloud): void {
  cloud.vms = serverIds.map((id, at) => ({
    id,
    name: `worker-${at + 1}`,
    status: 'ACTIVE',
    metadata: {},
  }));
  cloud.subnets = ['a', 'b'].map((letter, at) => ({
    id: `sub-${letter}`,
    name: `subnet-${letter}`,
    cidr: `10.0.${10 * (at + 1)}.0/24`,
    networkId: `net-${letter}`,
    ipVersion: 4,
    gatewayIp: `10.0.${10 * (at + 1)}.1`,
    hostRoutes: [],
    projectId: 'project-1',
  }));
  cloud.networks = ['a', 'b'].map((letter) => ({ id: `net-${letter}`, name: '', mtu: 1450 }));
}

/** Creates an OpenstackConfig with one port on each of two nodes, and syncs. */
export async function delivered(scene: Scene): Promise<void> {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 2);
  scene.create();
  await scene.look();
}
