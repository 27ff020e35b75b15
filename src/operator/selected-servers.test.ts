import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeServer } from './testing/fake-cloud.ts';
import { attach, type Scene, serverIds, setScene } from './testing/scene.ts';

const [s1 = '', s2 = '', s3 = ''] = serverIds;
/** Longer than a cached server list is valid. */
const later = 61_000;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  for (const n of [1, 2, 3]) attach(scene.cloud, n, n);
});

afterEach(async () => scene[Symbol.asyncDispose]());

function change(id: string, what: Partial<FakeServer>): void {
  scene.cloud.vms = scene.cloud.vms.map((vm) => (vm.id === id ? { ...vm, ...what } : vm));
}

function nodes(): string[] {
  const live = [...scene.viola.nodes.values()].filter(
    ({ deletionTimestamp }) => deletionTimestamp === undefined,
  );
  return live.map(({ nodeName }) => nodeName).toSorted();
}

describe('servers selected by name', () => {
  it('servers selected by name stay while a name matches no server or several servers', async () => {
    scene.create({ vmNames: ['worker-1', s2] });
    await scene.look();
    expect([nodes(), scene.ready()]).toEqual([
      ['worker-1', 'worker-2'],
      expect.stringContaining('True'),
    ]);
    change(s1, { name: 'renamed' });
    await scene.look(later);
    expect(scene.ready()).toContain(
      'False ServerNotFound: no server of the project is named "worker-1"',
    );
    change(s1, { name: 'worker-1' });
    change(s3, { name: 'worker-1' });
    await scene.look(later);
    expect(scene.ready()).toContain('False ServerNotUnique: 2 servers are named "worker-1"');
    scene.edit({ vmNames: ['worker-1'] });
    await scene.look(later);
    expect(nodes()).toEqual(['worker-1', 'worker-2']);
    change(s3, { name: 'worker-3' });
    await scene.look(later);
    await scene.look(later);
    expect(nodes()).toEqual(['worker-1']);
    expect(scene.ready()).toContain('True');
  });

  it('a created or edited config accepts a server list up to 2 s old, an unchanged config up to 60 s', async () => {
    scene.create({ vmNames: ['worker-1'] });
    const together = 2_000;
    const created = scene.clock.monotonicMs();
    await scene.look(0);
    const firstSyncAt = scene.clock.monotonicMs();
    await scene.look(0);
    scene.edit({ vmNames: ['worker-1', 'worker-3'] });
    await scene.look(0);
    const edited = scene.clock.monotonicMs();
    const longAgo = firstSyncAt - 60_000;
    expect(scene.cloud.serversSince).toEqual([created - together, longAgo, edited - together]);
    expect(nodes()).toEqual(['worker-1', 'worker-3']);
  });

  it('a server selected by name is replaced when a second server takes the name', async () => {
    scene.create({ vmNames: ['worker-1'], settings: { openstackNodeNameMetadataKey: 'node' } });
    await scene.look();
    change(s1, { name: 'old-1' });
    change(s3, { name: 'worker-1', metadata: { node: 'node-3' } });
    await scene.look(later);
    expect(nodes()).toEqual(['node-3']);
    scene.viola.clean();
    await scene.look();
    expect(scene.ready()).toContain('True');
  });
});

describe('servers selected by metadata and tags', () => {
  const data = { metadata: { pool: 'data' } };

  beforeEach(async () => {
    change(s1, { ...data, tags: ['k8s'] });
    change(s2, { ...data, tags: ['k8s'] });
  });

  it('servers join when metadata and tags match, and leave when a read by id shows no match', async () => {
    scene.create({ vmNames: [], vmSelector: { metadata: { pool: 'data' }, tags: ['k8s'] } });
    await scene.look();
    expect(nodes()).toEqual(['worker-1', 'worker-2']);
    change(s3, { ...data, tags: ['k8s', 'more'] });
    change(s1, { tags: [] });
    await scene.look(later);
    expect(nodes()).toEqual(['worker-2', 'worker-3']);
    change(s2, { metadata: {} });
    await scene.look(later);
    expect(nodes()).toEqual(['worker-3']);
    scene.viola.clean();
    await scene.look();
    expect(scene.ready()).toContain('True');
  });

  it('a server selected by metadata is removed when Nova lists the server as DELETED', async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    change(s1, { status: 'DELETED' });
    scene.cloud.ports = scene.cloud.ports.filter(({ deviceId }) => deviceId !== s1);
    await scene.look(later);
    expect(nodes()).toEqual(['worker-2']);
    expect(scene.viola.removals).toEqual(['worker-1 server-gone']);
  });

  it('servers selected by metadata stay when a list omits their ids, and while reads by id fail', async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    scene.cloud.unlisted.add(s1).add(s2);
    await scene.look(later);
    expect(nodes()).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toContain('ServerNotFound: no server of the project matches');
    expect(scene.ready()).toContain('nothing confirms its deletion or deselection');
    change(s1, { metadata: {} });
    scene.cloud.fail('server', 'timeout');
    await scene.look(later);
    expect(nodes()).toEqual(['worker-1', 'worker-2']);
    scene.cloud.heal();
    await scene.look(later);
    expect(nodes()).toEqual(['worker-2']);
    scene.cloud.unlisted.clear();
    scene.viola.clean();
    await scene.look(later);
    expect(scene.ready()).toContain('True');
  });

  it('servers selected by metadata are still synced while Nova cannot list servers, with one error and no removal', async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    scene.cloud.fail('projectServers', 'timeout');
    scene.cloud.fail('servers', 'timeout');
    change(s2, { metadata: {} });
    attach(scene.cloud, 11, 1);
    await scene.look(later);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p11']);
    expect(nodes()).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toContain('False NovaServerError');
    expect(scene.ready().match(/failed \(timeout\)/g)).toHaveLength(1);
    scene.restart();
    await scene.look(later);
    expect(nodes()).toEqual(['worker-1', 'worker-2']);
    scene.cloud.heal();
    await scene.look(later);
    expect(nodes()).toEqual(['worker-1']);
  });

  it('14 NICs on servers without the selected metadata leave without consent', async () => {
    for (let n = 21; n <= 26; n++) attach(scene.cloud, n, 1);
    for (let n = 31; n <= 36; n++) attach(scene.cloud, n, 2);
    change(s3, data);
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    change(s1, { metadata: {} });
    change(s2, { metadata: {} });
    await scene.look(later);
    expect(nodes()).toEqual(['worker-3']);
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 evidence', 'worker-2 evidence']);
  });

  it("polls back off while Nova cannot list the project's servers", async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    scene.cloud.fail('projectServers', 'timeout');
    expect(await scene.look(later)).toBe(30_000);
  });

  it('a partial sync lists no servers, and deselects no server', async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    await scene.look();
    change(s2, { metadata: {} });
    attach(scene.cloud, 11, 1);
    await scene.clock.advance(1_000);
    scene.cloud.serversSince.length = 0;
    expect(scene.cloudEvent({ servers: [s1] })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p11']);
    expect([nodes(), scene.cloud.serversSince]).toEqual([['worker-1', 'worker-2'], []]);
  });

  it("a whole-cloud event lists the project's servers again", async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    await scene.look();
    change(s3, data);
    const eventAt = scene.clock.monotonicMs();
    scene.cloudEvent({ whole: true });
    await scene.reconcile(300);
    expect(scene.cloud.serversSince.at(-1)).toBe(eventAt);
    expect(nodes()).toContain('worker-3');
  });

  it.each([
    ['by metadata', { vmNames: [], vmSelector: data }],
    ['by name', { vmNames: ['worker-1', 'worker-3'] }],
  ])('a new server selected %s is found by an event for the project', async (_how, selection) => {
    const made = { id: s3, name: 'worker-3', status: 'ACTIVE', ...data };
    scene.cloud.vms = scene.cloud.vms.filter(({ id }) => id !== s3);
    scene.create(selection);
    await scene.look();
    await scene.clock.advance(1_000);
    scene.cloud.vms.push(made);
    expect(scene.cloudEvent({ servers: [s3], projects: ['project-2'] })).toBe(false);
    expect(scene.cloudEvent({ servers: [s3], projects: ['project-1'] })).toBe(true);
    await scene.reconcile(0);
    expect(nodes()).toContain('worker-3');
  });

  it('an event for a new server does not concern a config with servers selected by id only', async () => {
    scene.create();
    await scene.look();
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    scene.edit({ vmNames: [s1] });
    await scene.look();
    expect(scene.cloudEvent({ servers: [s3], projects: ['project-1'] })).toBe(false);
  });

  it('a selector may match more servers than vmNames can hold', async () => {
    const count = 2_100;
    scene.cloud.vms = Array.from({ length: count }, (_, at) => ({
      ...data,
      id: `00000000-0000-4000-8000-1${String(at).padStart(11, '0')}`,
      name: `node-${at}`,
      status: 'ACTIVE',
    }));
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    expect(scene.status().summary).toMatchObject({ servers: count });
  });

  it("the project's servers are listed once a minute, and immediately after a new reconcile-at value", async () => {
    scene.create({ vmNames: [], vmSelector: data });
    await scene.look();
    const before = scene.clock.monotonicMs();
    await scene.look();
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(scene.cloud.serversSince.slice(1)).toEqual([
      before + 15_000 - 60_000,
      Number.POSITIVE_INFINITY,
    ]);
  });
});

it.each([
  ['id', { vmNames: [s1, s2] }],
  ['name', { vmNames: ['worker-1', s2] }],
  ['metadata', { vmNames: [s2], vmSelector: { metadata: { pool: 'data' } } }],
])(
  'a soft-deleted server selected by %s keeps its NICs until a restore, also after a restart',
  async (_, selection) => {
    for (const id of [s1, s2]) change(id, { metadata: { pool: 'data' } });
    scene.create(selection);
    await scene.look();
    change(s1, { status: 'SOFT_DELETED' });
    for (const restart of [false, true]) {
      if (restart) scene.restart();
      await scene.look(6 * later);
      expect(nodes()).toEqual(['worker-1', 'worker-2']);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
      expect(scene.ready()).toContain(`False ServerSoftDeleted: server ${s1} is soft-deleted`);
    }
    change(s1, { status: 'ACTIVE' });
    await scene.look(6 * later);
    expect(scene.ready()).toContain('True');
  },
);

it('a live server takes the name of a soft-deleted server over', async () => {
  change(s1, { status: 'SOFT_DELETED' });
  change(s3, { name: 'worker-1' });
  scene.create({ vmNames: ['worker-1'] });
  await scene.look();
  expect(scene.nics('worker-1')).toEqual(['multinic0=p3']);
});
