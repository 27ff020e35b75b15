// What a sync of the operator costs beside the reads that it needs: 1,000 servers with 3 ports each behind 20 ms of latency,
// one port changed and delivered per round, against the same requests by plain fetch. Medians; ratios within one run.
import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { metricTable } from '../../src/api/metrics.ts';
import { createClouds } from '../../src/openstack/clouds.ts';
import { createDeletionGuard } from '../../src/operator/deletion/guard.ts';
import { UnansweredPosts } from '../../src/operator/deliver/unanswered-posts.ts';
import { createViolas } from '../../src/operator/deliver/violas.ts';
import { createInventory } from '../../src/operator/inventory.ts';
import { Looks } from '../../src/operator/looks.ts';
import { NotReady } from '../../src/operator/not-ready.ts';
import { CloudViews } from '../../src/operator/observe/cloud-view.ts';
import { statusOf } from '../../src/operator/openstack-config.ts';
import { Pace } from '../../src/operator/pace.ts';
import { createReconciler } from '../../src/operator/reconcile.ts';
import { operatorSettings } from '../../src/operator/settings.ts';
import { createStatusWriter } from '../../src/operator/status/writer.ts';
import { FakeKube } from '../../src/operator/testing/fake-kube.ts';
import { FakeNotifications } from '../../src/operator/testing/fake-notifications.ts';
import { Triggers } from '../../src/operator/triggers/triggers.ts';
import { createPerform } from '../../src/process/effects.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { readSettings } from '../../src/process/settings.ts';
import { systemAuthorities } from '../../src/requests/ca-bundle.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock, systemRandom } from '../../src/time/clock.ts';
import { Figures } from './figures.ts';
import { BenchWorld, encryptKey, type Furnished } from './operator-world.ts';

const serverCount = 1_000;
const portsPerServer = 3;
const latencyMs = 20;
const rounds = 14;
/** Rounds before the just-in-time compiler has settled. */
const warmUp = 4;
const goals = { calls: 12, ratio: 2 };
/** As in src/openstack/neutron.ts: more at once would only make Neutron slower. */
const listsAtOnce = 4;
/** Longer than the operator believes a shared listing: each round has to look for itself. */
const pauseMs = 600;
const key = 'bench/osc';
const { signal } = new AbortController();
const clock = systemClock;
const random = systemRandom;

interface Round {
  readonly syncMs: number;
  readonly cpuMs: number;
  readonly plainMs: number;
  readonly calls: number;
}

/** Every request that this process sends, noted where undici makes it. */
const sent: string[] = [];
subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { method: string; origin: string; path: string } };
  if (request.method === 'GET') sent.push(request.origin + request.path);
});

async function operator(world: BenchWorld, { projectId, subnetId, servers }: Furnished) {
  const log = createLogger({ part: 'bench', level: 'warn', destination: process.stderr });
  const env = {
    CONTRABASS_ENDPOINT: world.contrabassUrl,
    CONTRABASS_ENCRYPT_KEY: encryptKey,
    VIOLA_ENDPOINT: world.violaUrl,
    POLL_FAST_INTERVAL: '1s',
  };
  const settings = readSettings(operatorSettings, { env, flags: {} });
  const kube = new FakeKube();
  const store = await Store.open({ kind: 'sqlite', path: ':memory:' }, { now: () => clock.now() });
  const perform = createPerform<string>(() => undefined);
  const metrics = createMetrics(metricTable);
  let calls = 0;
  const clouds = createClouds({ clock, random, log, onRequest: () => (calls += 1) });
  const violas = createViolas(
    { ...settings, token: undefined, authorities: systemAuthorities },
    { clock, random, log },
  );
  const notifications = new FakeNotifications();
  const notReady = new NotReady(metrics);
  const writer = createStatusWriter({
    client: kube,
    recorder: { record: () => undefined },
    perform,
    clock,
    notReady,
    notifications,
  });
  const reconcile = createReconciler({
    client: kube,
    configs: kube.configs,
    settings,
    guard: createDeletionGuard({
      client: kube,
      configs: kube.configs,
      definition: undefined,
      clock,
    }),
    authorities: { contrabass: systemAuthorities, openstack: systemAuthorities },
    clouds,
    views: new CloudViews(clock, signal),
    notifications,
    looks: new Looks(clock),
    violas,
    inventory: createInventory({ store, perform, clock, log, metrics }),
    writer,
    triggers: new Triggers({ clock, log, writer, notReady }),
    unanswered: new UnansweredPosts(clock),
    pace: new Pace({ clock, random }),
    perform,
    clock,
    random,
    log,
    metrics,
  });
  const credentials = {
    openstackProviderID: world.providerId,
    k8sProviderID: 'biz-1',
    projectID: projectId,
  };
  const settingsOfCr = { portBaseline: 'All' };
  const spec = { subnetIDs: [subnetId], vmNames: servers, credentials, settings: settingsOfCr };
  kube.create(spec, { namespace: 'bench' });
  return {
    /** One sync; answers what it took and what it asked. */
    async sync() {
      const before = calls;
      sent.length = 0;
      const cpu = process.cpuUsage();
      const start = performance.now();
      await reconcile(key, signal);
      const ms = performance.now() - start;
      const { user, system } = process.cpuUsage(cpu);
      const openstack = sent.filter((url) => !url.startsWith(world.violaUrl));
      return { ms, cpuMs: (user + system) / 1000, calls: calls - before, urls: openstack };
    },
    status: () => statusOf(kube.configs.get(key) ?? { metadata: { name: '' } }),
    async [Symbol.asyncDispose]() {
      await clouds[Symbol.asyncDispose]();
      await violas[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** The same requests without the operator: lists as many at a time as it has, then its questions one after the other. */
async function plainFetch(urls: readonly string[], token: string): Promise<number> {
  const headers = { 'x-auth-token': token };
  const get = async (url: string) => (await fetch(url, { headers })).json();
  const lists = urls.filter(isList).values();
  const worker = async (): Promise<void> => {
    for (const url of lists) await get(url);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: listsAtOnce }, worker));
  for (const url of urls.filter((one) => !isList(one))) await get(url);
  return performance.now() - start;
}

function isList(url: string): boolean {
  return url.includes('device_id=');
}

/** Attaches a port in one round and takes it off in the next. */
async function change(world: BenchWorld, { networkId, servers }: Furnished, round: number) {
  const serverId = servers[Math.floor(round / 2) * 7] ?? '';
  if (round % 2 === 0) {
    const { portId = '' } = await world.control('attach', { serverId, networkId });
    return portId;
  }
  await world.control('detach', { serverId, portId: attached });
  return '';
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

await using world = await BenchWorld.start();
console.log(`making ${serverCount} servers with ${portsPerServer} ports each`);
const furnished = await world.furnish(serverCount, portsPerServer);
await using bench = await operator(world, furnished);
const first = await bench.sync();
const firstNodes = await world.written();
if (firstNodes !== serverCount) throw new Error(`${firstNodes} nodes in the first sync`);
await world.control('setLatency', { ms: latencyMs });
const token = await world.token(furnished.projectId);

let attached = '';
const measured: Round[] = [];
for (let round = 0; round < rounds; round++) {
  attached = await change(world, furnished, round);
  await sleep(pauseMs);
  const { ms: syncMs, cpuMs, calls, urls } = await bench.sync();
  const nodes = await world.written();
  if (nodes !== 1) {
    const ready = bench.status().conditions?.find(({ type }) => type === 'Ready');
    throw new Error(`round ${round} delivered ${nodes} nodes: ${ready?.reason} ${ready?.message}`);
  }
  measured.push({ syncMs, cpuMs, calls, plainMs: await plainFetch(urls, token) });
}

const settled = measured.slice(warmUp);
const of = (value: (round: Round) => number) => median(settled.map(value));
const result = {
  calls: Math.max(...settled.map(({ calls }) => calls)),
  syncMs: of(({ syncMs }) => syncMs),
  cpuMs: of(({ cpuMs }) => cpuMs),
  plainMs: of(({ plainMs }) => plainMs),
  ratio: of(({ syncMs, plainMs }) => syncMs / plainMs),
};
const figures = new Figures();
figures.note('node', process.version);
figures.goal('OpenStack calls of a steady sync, at most', result.calls, goals.calls, 'calls');
figures.note(
  'the first sync, nothing known, no latency',
  `${first.calls} calls, ${first.ms.toFixed(0)} ms`,
);
figures.note(
  `the same reads by plain fetch, ${listsAtOnce} lists at a time`,
  `${result.plainMs.toFixed(0)} ms`,
);
figures.goal('sync, from the look to delivery and inventory', result.ratio, goals.ratio, 'times');
figures.note(
  'its time, and CPU time',
  `${result.syncMs.toFixed(0)} ms, ${result.cpuMs.toFixed(0)} ms`,
);
figures.end();
