// The operator's reconciler in the process of a bench, with an API server in memory.

import { subscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { metricTable } from '../../src/api/metrics.ts';
import type { OpenstackConfigSpec } from '../../src/api/openstackconfig.ts';
import { createClouds } from '../../src/openstack/clouds.ts';
import { nothingHappened } from '../../src/openstack/notifications/envelope.ts';
import { CloudAges } from '../../src/operator/cloud/cloud-age.ts';
import { CloudViews } from '../../src/operator/cloud/observe/cloud-view.ts';
import { createViolas } from '../../src/operator/clusters/deliver/violas.ts';
import { createDeletionGuard } from '../../src/operator/flow/deletion/guard.ts';
import { createInventory } from '../../src/operator/flow/inventory-records/inventory.ts';
import { noteCloudEvent } from '../../src/operator/flow/schedule/cloud-events.ts';
import { PlanCache } from '../../src/operator/flow/sync/plan-cache.ts';
import { Triggers } from '../../src/operator/flow/triggers/triggers.ts';
import { ManagementCluster } from '../../src/operator/management-cluster.ts';
import { ConfigMemories } from '../../src/operator/model/memory/config-memory.ts';
import { statusOf } from '../../src/operator/model/openstack-config.ts';
import { operatorSettings } from '../../src/operator/model/settings/operator.ts';
import { createReconciler } from '../../src/operator/reconcile.ts';
import { createStatusWriter } from '../../src/operator/report/status/writer.ts';
import { FakeBrokerSecrets } from '../../src/operator/testing/fake-broker-secrets.ts';
import { FakeKube } from '../../src/operator/testing/fake-kube.ts';
import { FakeNotifications } from '../../src/operator/testing/fake-notifications.ts';
import { noRecords } from '../../src/operator/testing/no-records.ts';
import { createPerform } from '../../src/process/effects.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { readSettings } from '../../src/process/settings.ts';
import { systemAuthorities } from '../../src/requests/ca-bundle.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock as clock, systemRandom as random } from '../../src/time/clock.ts';
import { type BenchWorld, encryptKey } from './operator-world.ts';

const { signal } = new AbortController();

/** Every request that this process sends, noted where undici makes it. */
const sent: string[] = [];
subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { method: string; origin: string; path: string } };
  if (request.method === 'GET') sent.push(request.origin + request.path);
});

/** What one look took and what it asked of OpenStack. */
export interface SyncRun {
  readonly ms: number;
  readonly cpuMs: number;
  readonly calls: number;
  /** Reads of OpenStack. */
  readonly urls: readonly string[];
  readonly violaUrls: readonly string[];
}

/** Makes an operator before the stand-ins of this world. */
export async function benchOperator(world: BenchWorld, env: Readonly<Record<string, string>> = {}) {
  const log = createLogger({ part: 'bench', level: 'warn', destination: process.stderr });
  const own = {
    CONTRABASS_ENDPOINT: world.contrabassUrl,
    CONTRABASS_ENCRYPT_KEY: encryptKey,
    VIOLA_ENDPOINT: world.violaUrl,
    POLL_FAST_INTERVAL: '1s',
    // The stand-ins are on this machine.
    ALLOWED_ENDPOINTS: 'http://127.0.0.1:*',
  };
  const settings = readSettings(operatorSettings, { env: { ...own, ...env }, flags: {} });
  const kube = new FakeKube();
  // On disk, as on the volume of a Pod: in memory its pages would count as the operator's.
  const folder = await mkdtemp(join(tmpdir(), 'multinic-bench-store-'));
  const database = { kind: 'sqlite', path: join(folder, 'inventory.db') } as const;
  const store = await Store.open(database, { now: () => clock.now() });
  const perform = createPerform<string>(() => undefined);
  const metrics = createMetrics(metricTable);
  let calls = 0;
  const clouds = createClouds({ clock, random, log, onRequest: () => (calls += 1) });
  const violas = createViolas(
    { ...settings, token: undefined, authorities: systemAuthorities },
    { clock, random, log, records: noRecords },
  );
  const views = new CloudViews(clock, signal);
  const notifications = new FakeNotifications();
  const brokerSecrets = new FakeBrokerSecrets();
  const cloudAges = new CloudAges(clock);
  const plans = new PlanCache(clock);
  const memories = new ConfigMemories({
    clock,
    random,
    clouds: [views, notifications, cloudAges],
    others: [brokerSecrets, plans],
  });
  const recorder = { record: () => undefined };
  const writer = createStatusWriter({
    client: kube,
    recorder,
    perform,
    clock,
    notifications,
  });
  const reconcile = createReconciler({
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
      definition: undefined,
      clock,
    }),
    authorities: { contrabass: systemAuthorities, openstack: systemAuthorities },
    clouds,
    views,
    plans,
    cloudAges,
    violas,
    management: new ManagementCluster(kube, settings),
    inventory: createInventory({ store, perform, clock, log, metrics }),
    records: noRecords,
    writer,
    notifications,
    brokerSecrets,
    triggers: new Triggers({ clock, log, writer, memories, isCallable: false }),
    perform,
    clock,
    random,
    log,
    metrics,
  });
  return {
    /** Makes `bench/NAME`. */
    create(
      name: string,
      spec: Pick<OpenstackConfigSpec, 'subnetIDs' | 'vmNames'>,
      projectID: string,
    ) {
      const credentials = {
        openstackProviderID: world.providerId,
        k8sProviderID: 'biz-1',
        projectID,
      };
      const settingsOfCr = { portBaseline: 'All' };
      const meta = { namespace: 'bench', name, uid: `uid-${name}` };
      kube.create({ ...spec, credentials, settings: settingsOfCr }, meta);
    },
    /** One look at `bench/NAME`. */
    async look(name: string): Promise<SyncRun> {
      const before = calls;
      sent.length = 0;
      const cpu = process.cpuUsage();
      const start = performance.now();
      await reconcile(`bench/${name}`, signal);
      const ms = performance.now() - start;
      const { user, system } = process.cpuUsage(cpu);
      const urls = sent.filter((url) => !url.startsWith(world.violaUrl));
      const violaUrls = sent.filter((url) => url.startsWith(world.violaUrl));
      return { ms, cpuMs: (user + system) / 1000, calls: calls - before, urls, violaUrls };
    },
    /** Something was said of a server of `bench/NAME`. */
    hint(name: string, serverId: string): void {
      const key = `bench/${name}`;
      noteCloudEvent([key], { ...nothingHappened, servers: [serverId] }, { memories, views });
    },
    ready(name: string): string {
      const status = statusOf(kube.configs.get(`bench/${name}`) ?? { metadata: { name } });
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      return `${ready?.status} ${ready?.reason}: ${ready?.message}`;
    },
    async [Symbol.asyncDispose]() {
      await clouds[Symbol.asyncDispose]();
      await violas[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
