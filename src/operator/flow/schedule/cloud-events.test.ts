import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';

const [first = '', second = ''] = serverIds;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
  // The first syncs after a change are close together.
  await scene.look();
  await scene.clock.advance(1_000);
  scene.cloud.log.length = 0;
  scene.viola.lists.length = 0;
  scene.viola.reads.length = 0;
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Requests to OpenStack that no cache answers. */
function uncachedRequests(): string[] {
  return scene.cloud.log.filter((line) =>
    /^(portsOf|port|portsWithMac|server|wasDeleted) /.test(line),
  );
}

describe('a server with a cloud event', () => {
  it('a server with a cloud event is synced alone, using one port list and one object read', async () => {
    attach(scene.cloud, 3, 1);
    attach(scene.cloud, 4, 2);
    expect(scene.cloudEvent({ servers: [first] })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(uncachedRequests()).toEqual(['portsOf 1']);
    expect(scene.viola.reads).toEqual(['worker-1']);
    expect(scene.viola.lists).toEqual([]);
    // Networks and servers stay cached.
    expect(scene.cloud.freshened).toEqual([]);
  });

  it('a server with a cloud event loses a detached NIC after three requests', async () => {
    detach(scene.cloud, 1);
    scene.cloudEvent({ servers: [first] });
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual([]);
    expect(uncachedRequests()).toEqual(['portsOf 1', 'port p1', `server ${first}`]);
  });

  it('a synced cloud event reaches status and inventory 2 seconds later without further OpenStack requests', async () => {
    attach(scene.cloud, 3, 1);
    scene.cloudEvent({ servers: [first] });
    // A poll of all servers would list the remaining ports again.
    const accountMs = await scene.reconcile(11_000);
    expect(scene.status().summary).toMatchObject({ interfaces: 2 });
    scene.cloud.log.length = 0;
    await scene.reconcile(accountMs ?? 0);
    expect(scene.status().summary).toMatchObject({ interfaces: 3 });
    expect(uncachedRequests()).toEqual([]);
    const recorded = await scene.store.nicsOf([first]);
    expect(recorded.flatMap(({ interfaces }) => interfaces.map(({ portId }) => portId))).toEqual([
      'p1',
      'p3',
    ]);
  });

  it('a cloud event reaches the status 2 seconds later even while more events arrive', async () => {
    attach(scene.cloud, 3, 1);
    for (let ms = 0; ms < 2_500; ms += 300) {
      scene.cloudEvent({ servers: [first] });
      await scene.reconcile(300);
    }
    expect(scene.status().summary).toMatchObject({ interfaces: 3 });
  });

  it('repeated cloud events for one server do not defer the poll of all servers', async () => {
    attach(scene.cloud, 4, 2);
    for (let ms = 0; ms < 20_000; ms += 500) {
      scene.cloudEvent({ servers: [first] });
      await scene.reconcile(500);
    }
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p4']);
  });

  it("an event that names only a port syncs the port's last known server", async () => {
    detach(scene.cloud, 2);
    expect(scene.cloudEvent({ ports: ['p2'] })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-2')).toEqual([]);
    expect(scene.viola.reads).toEqual(['worker-2']);
  });

  it('a cloud event syncs all servers when another server has the same name', async () => {
    scene.cloud.vms = scene.cloud.vms.map((vm) => ({ ...vm, name: 'worker-1' }));
    scene.edit({ vmNames: [...serverIds] });
    await scene.look();
    const third = serverIds[2] ?? '';
    attach(scene.cloud, 5, 3);
    scene.viola.lists.length = 0;
    scene.cloudEvent({ servers: [third] });
    await scene.reconcile(300);
    expect(scene.viola.lists).toHaveLength(1);
    expect(scene.ready()).toContain('False NameConflict');
  });

  it('a cloud event syncs all servers after an edit', async () => {
    attach(scene.cloud, 4, 2);
    scene.edit({ settings: { maxInterfaces: 9 } });
    scene.cloudEvent({ servers: [first] });
    await scene.reconcile(11_000);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p4']);
  });
});

it('events for 21 servers sync all servers with one object list; events for 20 do not', async () => {
  const ids = Array.from({ length: 21 }, (_, n) => `00000000-0000-4000-8000-0000000002${n + 10}`);
  scene.cloud.vms = ids.map((id, n) => ({ id, name: `w-${n}`, status: 'ACTIVE', metadata: {} }));
  scene.edit({ vmNames: ids });
  await scene.look();
  for (const count of [20, 21]) {
    await scene.clock.advance(100);
    scene.viola.lists.length = 0;
    scene.cloudEvent({ servers: ids.slice(0, count) });
    await scene.reconcile(100);
    expect(scene.viola.lists).toHaveLength(count === 20 ? 0 : 1);
  }
});

describe('a cloud event', () => {
  it.each(['not answered', 'killed'])(
    'a cloud event is handled by the next sync when its sync was %s',
    async (how) => {
      attach(scene.cloud, 3, 1);
      scene.cloudEvent({ servers: [first] });
      if (how === 'killed') {
        scene.killAt(scene.effects.length, new Error('killed'));
        await expect(scene.reconcile(300)).resolves.toBeDefined();
        scene.killAt(Number.POSITIVE_INFINITY, new Error('never'));
      } else {
        scene.cloud.fail('portsOf', 'timeout');
        expect(await scene.reconcile(300)).toBe(0);
        scene.cloud.heal();
      }
      await scene.reconcile(0);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    },
  );

  it('a cloud event survives several failed syncs', async () => {
    // Without changes reads may be a minute old.
    for (let n = 0; n < 4; n++) await scene.look(60_000);
    await scene.clock.advance(1_000);
    attach(scene.cloud, 3, 1);
    scene.cloudEvent({ servers: [first] });
    scene.cloud.fail('portsOf', 'timeout');
    await scene.reconcile(0);
    await scene.reconcile(0);
    expect(scene.ready()).toContain('False NeutronPortError');
    scene.cloud.heal();
    await scene.reconcile(30_000);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
  });

  it('a cloud event starts no sync until 5 seconds after a failed sync', async () => {
    scene.cloud.fail('portsOf', 'timeout');
    await scene.look();
    expect(scene.ready()).toContain('False NeutronPortError');
    scene.cloud.heal();
    attach(scene.cloud, 3, 1);
    expect(scene.cloudEvent({ servers: [first] })).toBe(false);
    await scene.clock.advance(5_000);
    expect(scene.cloudEvent({ servers: [first] })).toBe(true);
    await scene.reconcile(0);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toContain('True');
  });

  it('a cloud event for a server without an OpenstackConfig starts no sync', () => {
    expect(
      scene.cloudEvent({ servers: ['00000000-0000-4000-8000-0000000000ff'], ports: ['p99'] }),
    ).toBe(false);
  });
});

describe('a sync of all servers', () => {
  it('an event for the whole cloud makes one sync read everything again', async () => {
    attach(scene.cloud, 4, 2);
    expect(scene.cloudEvent({ whole: true })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p4']);
    expect(scene.cloud.freshened).toHaveLength(1);
    await scene.look();
    expect(scene.cloud.freshened).toHaveLength(1);
  });

  it.each([
    ['its network', { networks: ['net-a'] }, true],
    ['its subnet', { networks: ['sub-a'] }, true],
    ['a network of another project', { networks: ['net-x'] }, false],
    ['its account, which may have lost roles', { accounts: ['user-1'] }, true],
    ['the account of another OpenstackConfig', { accounts: ['user-2'] }, false],
  ])(
    'an event for %s (%o) starts a fresh sync only if the config uses the subject',
    async (_of, event, isIts) => {
      expect(scene.cloudEvent(event)).toBe(isIts);
      await scene.reconcile(300);
      expect(scene.cloud.freshened).toHaveLength(isIts ? 1 : 0);
    },
  );

  it('a new reconcile-at value makes the sync read everything again', async () => {
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(scene.cloud.freshened).toHaveLength(1);
  });

  it('a failed sync for a whole-cloud event is repeated once with fresh reads', async () => {
    scene.cloudEvent({ whole: true });
    scene.cloud.fail('portsOf', 'timeout');
    await scene.reconcile(300);
    scene.cloud.heal();
    await scene.reconcile(30_000);
    expect(scene.ready()).toContain('True');
    await scene.look();
    expect(scene.cloud.freshened).toHaveLength(2);
  });
});

describe('a detach that Nova has not recorded', () => {
  beforeEach(() => {
    scene.cloud.holdNovaEvents();
    detach(scene.cloud, 1);
    scene.cloudEvent({ servers: [first] });
  });

  it('a detach that Nova has not recorded is retried after 1, 2 and 5 seconds before the status reports the removal', async () => {
    const times: number[] = [];
    let ms: number | undefined = 300;
    let now = 0;
    while (ms !== undefined && now < 12_000) {
      ms = await scene.reconcile(ms);
      now += ms ?? 0;
      if (scene.cloud.log.includes(`server ${first}`)) times.push(now - (ms ?? 0));
      scene.cloud.log.length = 0;
      if (now - (ms ?? 0) < 8_000) expect(scene.ready()).toContain('True');
    }
    expect(times).toEqual(expect.arrayContaining([0, 1_000, 3_000, 8_000]));
    expect(times.length).toBeLessThan(8);
    expect(scene.ready()).toContain('False RemovalUnconfirmed');
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it('a detach is delivered by the first retry after Nova recorded the detach', async () => {
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.releaseNovaEvents();
    await scene.reconcile(1_000);
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.viola.lists).toEqual([]);
    await scene.look(2_000);
    expect(scene.ready()).toContain('True');
  });

  it('condition Reconciling reports an unrecorded detach as Waiting', async () => {
    const accountMs = (await scene.reconcile(300)) ?? 0;
    await scene.reconcile(accountMs);
    await scene.reconcile(1_000);
    expect(scene.condition('Reconciling')).toMatchObject({
      reason: 'Waiting',
      message: 'worker-1: Nova has not recorded a detach yet',
    });
  });
});

it('held removals stay held in partial syncs, while detached NICs leave', async () => {
  for (let n = 3; n <= 20; n++) attach(scene.cloud, n, n % 2 === 0 ? 2 : 1);
  await scene.look();
  scene.edit({ subnetIDs: ['sub-b'] });
  await scene.look();
  expect(scene.ready()).toContain('False RemovalHeld: OverBudget');
  await scene.clock.advance(1_000);
  detach(scene.cloud, 1);
  scene.cloudEvent({ servers: [first] });
  await scene.reconcile(300);
  expect(scene.nics('worker-1')).toHaveLength(9);
  await scene.look(2_000);
  expect(scene.ready()).toContain('False RemovalHeld: OverBudget');
  expect(scene.nics('worker-2')).toHaveLength(10);
});

it('many detached NICs leave over several cloud events, because evidence has no limit', async () => {
  for (let n = 3; n <= 20; n++) attach(scene.cloud, n, n % 2 === 0 ? 2 : 1);
  await scene.look();
  await scene.clock.advance(1_000);
  for (let n = 1; n <= 20; n++) detach(scene.cloud, n);
  for (const server of [first, second]) {
    scene.cloudEvent({ servers: [server] });
    await scene.reconcile(300);
  }
  expect([scene.nics('worker-1'), scene.nics('worker-2')]).toEqual([[], []]);
});
