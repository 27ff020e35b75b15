import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { configured, ReadApiFixture } from '../../../../test/fixtures/read-api.ts';
import { eventsPath } from '../../../api/events-http.ts';
import type { ClusterView, NodeView } from '../../../api/read-http.ts';
import { until } from '../../../time/fake-clock.ts';
import { attach, type Scene, spec } from '../../testing/scene.ts';
import { mostStreams } from './feed.ts';

let api: ReadApiFixture;
let scene: Scene;

const config = 'multinic-system/osc';
const worker = (n: number) => `node biz-1/worker-${n}/${config}`;

beforeEach(async () => {
  api = await ReadApiFixture.open();
  ({ scene } = api);
  const checkedAt = '2026-01-01T00:00:00Z';
  scene.viola.clusters = ['biz-1', 'biz-2'].map((providerId) => ({
    providerId,
    server: 'https://k8s.test',
    reachable: true,
    checkedAt,
    message: '',
  }));
  await api.deliver();
  await scene.look();
});

afterEach(async () => api[Symbol.asyncDispose]());

/** Deletes the OpenstackConfig without its finalizer. */
function forget(): void {
  const object = scene.object() ?? expect.fail('no object');
  scene.kube.configs.remove(object);
}

/** Changes worker-1: the controller reports a configured NIC. */
async function change(): Promise<void> {
  api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
  await scene.look();
  await api.pass(1_000);
}

it('the stream sends rows as in the lists after a sync', async () => {
  const reader = await api.stream();
  expect(reader.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  await change();
  expect(reader.keys).toEqual([worker(1), 'cluster biz-1']);
  const rows = [
    (await api.get<NodeView>('nodes')).items[0],
    (await api.get<ClusterView>('clusters')).items[0],
  ];
  expect(reader.events.map(({ row }) => row)).toEqual(rows);
});

it('the stream sends null for rows when their OpenstackConfig is deleted', async () => {
  const reader = await api.stream();
  forget();
  await api.pass(1_000);
  expect(reader.keys).toEqual([
    `config ${config} gone`,
    `${worker(1)} gone`,
    `${worker(2)} gone`,
    'cluster biz-1',
  ]);
});

it('the stream cuts a longer text at 1,000 bytes', async () => {
  const reader = await api.stream();
  const [cluster] = scene.viola.clusters;
  if (cluster) scene.viola.clusters = [{ ...cluster, reachable: false, message: '가'.repeat(400) }];
  await api.pass(21_000);
  const [event] = reader.events;
  expect(event).toMatchObject({ kind: 'cluster', key: 'biz-1' });
  expect(event?.row).toHaveProperty('message', `${'가'.repeat(332)}…`);
});

it('the stream sends heartbeats only while syncs change nothing', async () => {
  const reader = await api.stream();
  for (let n = 0; n < 4; n++) {
    await scene.look();
    await api.pass(15_000);
  }
  expect(reader.keys).toEqual([]);
  expect(reader.heartbeats).toBeGreaterThanOrEqual(5);
});

it('the stream sends status changes while an OpenstackConfig is paused', async () => {
  scene.kube.annotate({ 'multinic.io/paused': 'true' });
  await scene.look();
  const reader = await api.stream();
  api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
  await api.pass(95_000);
  expect(reader.keys).toEqual([worker(1), 'cluster biz-1']);
  expect(reader.events[0]?.row).toMatchObject({ state: 'Configured' });
});

it('a hanging business cluster delays only its own rows', async () => {
  const cloud = await api.addTenant();
  scene.kube.annotate({ 'multinic.io/paused': 'true' });
  await scene.clock.advance(60_000);
  const list = vi.spyOn(scene.viola, 'list').mockReturnValue(new Promise(() => undefined));
  const reader = await api.stream();
  attach(cloud, 8, 3);
  await scene.lookAt('multinic-system/tenant');
  await api.pass(1_000);
  expect(list).toHaveBeenCalled();
  expect(reader.keys).toContain('node biz-2/worker-3/multinic-system/tenant');
});

it('an operator compares nothing 15 min after its last reader', async () => {
  const reader = await api.stream();
  await api.pass(720_000);
  expect(reader.hasEnded).toBe(true);
  expect(scene.clock.waits).toContain(1_000);
  await api.pass(901_000);
  expect(scene.clock.waits).toEqual([]);
});

it.each([
  ['from the first event', (ids: readonly string[]) => ids[0], 2, 0],
  ['between the events', (ids: readonly string[]) => ids[0]?.replace(/\d+$/, '1'), 1, 0],
  ['from the last event', (ids: readonly string[]) => ids.at(-1), 0, 0],
  ['from a different ring', () => '00000000-0000-4000-8000-000000000000-1', 0, 1],
  ['from a later event', (ids: readonly string[]) => ids[0]?.replace(/\d+$/, '9'), 0, 1],
  ['without a number', () => 'x', 0, 1],
])('a resume with an id %s sends the later events or a reset', async (...row) => {
  const [, idOf, events, resets] = row;
  const reader = await api.stream();
  await change();
  const again = await api.stream(undefined, idOf(reader.ids));
  await api.pass(1_000);
  expect(again.events).toEqual(reader.events.slice(reader.events.length - events));
  expect(again.resets).toBe(resets);
  expect(again.ids.at(-1)).toBe(reader.ids.at(-1));
});

it('a reader without rights to a business cluster receives no row and no deletion from this cluster', async () => {
  await api.addTenant();
  await api.pass(1_000);
  const [one, two] = [await api.stream('one'), await api.stream('two')];
  await change();
  forget();
  await api.pass(1_000);
  expect(one.keys).toContain(`${worker(1)} gone`);
  expect(two.keys).toEqual([]);
  const resumed = await api.stream('two', one.ids[0]);
  await api.pass(1_000);
  expect(resumed.keys).toEqual([]);
});

it('a reader receives null when an OpenstackConfig moves to a hidden business cluster', async () => {
  const [one, two, all] = [await api.stream('one'), await api.stream('two'), await api.stream()];
  scene.edit({ credentials: { ...spec.credentials, k8sProviderID: 'biz-2' } });
  await api.pass(1_000);
  const gone = [config, worker(1), worker(2)].map((key) => `${key} gone`);
  expect(one.keys.filter((key) => !key.startsWith('cluster'))).toEqual([
    `config ${gone[0]}`,
    ...gone.slice(1),
  ]);
  expect(two.keys).toEqual([]);
  expect(all.keys).toContain(worker(1));
});

it.each([
  ['the Lease is lost', (): void => api.loseLease(), 0],
  [
    'this replica stops leading',
    (): void => {
      api.unavailable = 'another replica leads';
    },
    1_000,
  ],
  [
    'the token is revoked',
    (): void => {
      api.grants = [];
    },
    15_000,
  ],
  [
    'the token loses a business cluster',
    (): void => {
      api.grants = api.grants.map((grant) => ({ ...grant, providers: ['biz-2'] }));
    },
    15_000,
  ],
] as const)('a stream ends when %s', async (...row) => {
  const [, cause, ms] = row;
  const reader = await api.stream('one');
  await api.pass(14_000);
  expect(reader.hasEnded).toBe(false);
  cause();
  await api.pass(ms);
  expect(reader.hasEnded).toBe(true);
});

it.each([
  [0, 480_000],
  [0.5, 600_000],
  [0.75, 660_000],
])('a stream with random %s ends after %s ms', async (random, ms) => {
  api.random = random;
  const reader = await api.stream();
  await api.pass(ms - 1_000);
  expect(reader.hasEnded).toBe(false);
  await api.pass(1_000);
  expect(reader.hasEnded).toBe(true);
});

it('a resume in a new leadership term begins with a reset', async () => {
  const first = await api.stream();
  api.loseLease();
  const next = await api.stream(undefined, first.ids[0]);
  expect(next.resets).toBe(1);
});

it('a replica without the Lease answers 503', async () => {
  api.unavailable = 'another replica leads';
  expect((await api.get('inventory/events')).body).toMatchObject({ code: 'NotLeading' });
});

it('100 streams hold no slot, and the 101st stream gets 503', async () => {
  const readers = await Promise.all(Array.from({ length: mostStreams }, () => api.stream()));
  expect(readers.map(({ status }) => status)).toEqual(readers.map(() => 200));
  expect((await api.get('nodes')).status).toBe(200);
  const refused = await api.stream();
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '30' } });
  api.loseLease();
  await until('the streams end', () => readers.every(({ hasEnded }) => hasEnded));
  expect((await api.stream()).status).toBe(200);
});

it('a closing server ends open streams, also over HTTP', async () => {
  const warnings = vi.spyOn(process, 'emitWarning');
  const url = await api.listen();
  const left = new AbortController();
  const leaving = await fetch(`${url}${eventsPath}`, { signal: left.signal });
  const reader = (await fetch(`${url}${eventsPath}`)).body?.getReader();
  const first = await reader?.read();
  expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^: heartbeat\nid: .+-0\n\n$/);
  left.abort();
  await expect(leaving.text()).rejects.toThrow();
  await api.close();
  expect((await reader?.read())?.done).toBe(true);
  expect(warnings).not.toHaveBeenCalled();
});
