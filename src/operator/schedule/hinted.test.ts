import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../testing/scene.ts';

const [first = '', second = ''] = serverIds;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
  // The first looks after a change are close together.
  await scene.look();
  await scene.clock.advance(1_000);
  scene.cloud.log.length = 0;
  scene.viola.lists.length = 0;
  scene.viola.reads.length = 0;
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** What OpenStack was asked that nothing remembers. */
function asked(): string[] {
  return scene.cloud.log.filter((line) =>
    /^(portsOf|port|portsWithMac|server|wasDeleted) /.test(line),
  );
}

describe('a server of which something was said', () => {
  it('is looked at alone: one list of its ports, one read of its object', async () => {
    attach(scene.cloud, 3, 1);
    attach(scene.cloud, 4, 2);
    expect(scene.hint({ servers: [first] })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(asked()).toEqual(['portsOf 1']);
    expect(scene.viola.reads).toEqual(['worker-1']);
    expect(scene.viola.lists).toEqual([]);
    // What is remembered of networks and servers stays so.
    expect(scene.cloud.freshened).toEqual([]);
  });

  it('loses a NIC after three questions', async () => {
    detach(scene.cloud, 1);
    scene.hint({ servers: [first] });
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual([]);
    expect(asked()).toEqual(['portsOf 1', 'port p1', `server ${first}`]);
  });

  it('is accounted for soon after, and OpenStack is asked no more for it', async () => {
    attach(scene.cloud, 3, 1);
    scene.hint({ servers: [first] });
    // The others were listed longer ago than a look at all of them would take.
    const accountMs = await scene.reconcile(11_000);
    expect(scene.status().summary).toMatchObject({ interfaces: 2 });
    scene.cloud.log.length = 0;
    await scene.reconcile(accountMs ?? 0);
    expect(scene.status().summary).toMatchObject({ interfaces: 3 });
    expect(asked()).toEqual([]);
    const recorded = await scene.store.nicsOf([first]);
    expect(recorded.flatMap(({ interfaces }) => interfaces.map(({ portId }) => portId))).toEqual([
      'p1',
      'p3',
    ]);
  });

  it('is accounted for although something is said of it all the time', async () => {
    attach(scene.cloud, 3, 1);
    for (let ms = 0; ms < 2_500; ms += 300) {
      scene.hint({ servers: [first] });
      await scene.reconcile(300);
    }
    expect(scene.status().summary).toMatchObject({ interfaces: 3 });
  });

  it('puts off no look at all of them', async () => {
    attach(scene.cloud, 4, 2);
    for (let ms = 0; ms < 20_000; ms += 500) {
      scene.hint({ servers: [first] });
      await scene.reconcile(500);
    }
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p4']);
  });

  it('is the one where a port was seen last, when nobody says where it is', async () => {
    detach(scene.cloud, 2);
    expect(scene.hint({ ports: ['p2'] })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-2')).toEqual([]);
    expect(scene.viola.reads).toEqual(['worker-2']);
  });

  it('is looked at with all others when its name is somebody else’s', async () => {
    scene.cloud.vms = scene.cloud.vms.map((vm) => ({ ...vm, name: 'worker-1' }));
    scene.edit({ vmNames: [...serverIds] });
    await scene.look();
    const third = serverIds[2] ?? '';
    attach(scene.cloud, 5, 3);
    scene.viola.lists.length = 0;
    scene.hint({ servers: [third] });
    await scene.reconcile(300);
    expect(scene.viola.lists).toHaveLength(1);
    expect(scene.ready()).toContain('False NameConflict');
  });

  it('is looked at with all others after an edit, which is no less urgent', async () => {
    attach(scene.cloud, 4, 2);
    scene.edit({ settings: { maxInterfaces: 9 } });
    scene.hint({ servers: [first] });
    await scene.reconcile(11_000);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p4']);
  });
});

it('many servers are looked at with all others: their objects are sooner read in a list', async () => {
  const ids = Array.from({ length: 21 }, (_, n) => `00000000-0000-4000-8000-0000000002${n + 10}`);
  scene.cloud.vms = ids.map((id, n) => ({ id, name: `w-${n}`, status: 'ACTIVE', metadata: {} }));
  scene.edit({ vmNames: ids });
  await scene.look();
  for (const count of [20, 21]) {
    await scene.clock.advance(100);
    scene.viola.lists.length = 0;
    scene.hint({ servers: ids.slice(0, count) });
    await scene.reconcile(100);
    expect(scene.viola.lists).toHaveLength(count === 20 ? 0 : 1);
  }
});

describe('what was said', () => {
  it.each(['not answered', 'killed'])('is not lost by a look that is %s', async (how) => {
    attach(scene.cloud, 3, 1);
    scene.hint({ servers: [first] });
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
  });

  it('is not lost by several that fail, though little time passes', async () => {
    // Nothing changes, so that what was seen may be a minute old.
    for (let n = 0; n < 4; n++) await scene.look(60_000);
    await scene.clock.advance(1_000);
    attach(scene.cloud, 3, 1);
    scene.hint({ servers: [first] });
    scene.cloud.fail('portsOf', 'timeout');
    await scene.reconcile(0);
    await scene.reconcile(0);
    expect(scene.ready()).toContain('False NeutronPortError');
    scene.cloud.heal();
    await scene.reconcile(30_000);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
  });

  it('hastens nothing while a service fails, but is looked at when that has rested', async () => {
    scene.cloud.fail('portsOf', 'timeout');
    await scene.look();
    expect(scene.ready()).toContain('False NeutronPortError');
    scene.cloud.heal();
    attach(scene.cloud, 3, 1);
    expect(scene.hint({ servers: [first] })).toBe(false);
    await scene.clock.advance(5_000);
    expect(scene.hint({ servers: [first] })).toBe(true);
    await scene.reconcile(0);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toContain('True');
  });

  it('of a server that nobody selects is nothing', () => {
    expect(scene.hint({ servers: ['00000000-0000-4000-8000-0000000000ff'], ports: ['p99'] })).toBe(
      false,
    );
  });
});

describe('more than anybody said', () => {
  it('is looked for everywhere, and nothing from before is remembered', async () => {
    attach(scene.cloud, 4, 2);
    expect(scene.hint({ whole: true })).toBe(true);
    await scene.reconcile(300);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p4']);
    expect(scene.cloud.freshened).toHaveLength(1);
    await scene.look();
    expect(scene.cloud.freshened).toHaveLength(1);
  });

  it.each([
    ['of its network', { networks: ['net-a'] }, true],
    ['of its subnet', { networks: ['sub-a'] }, true],
    ['of somebody else’s network', { networks: ['net-x'] }, false],
    ['of its account, which may do less now', { accounts: ['user-1'] }, true],
    ['of somebody else’s account', { accounts: ['user-2'] }, false],
  ])('is what news %s is', async (_of, hint, isIts) => {
    expect(scene.hint(hint)).toBe(isIts);
    await scene.reconcile(300);
    expect(scene.cloud.freshened).toHaveLength(isIts ? 1 : 0);
  });

  it('is looked for when a person asks, too', async () => {
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(scene.cloud.freshened).toHaveLength(1);
  });

  it('is looked for again after a failure, once', async () => {
    scene.hint({ whole: true });
    scene.cloud.fail('portsOf', 'timeout');
    await scene.reconcile(300);
    scene.cloud.heal();
    await scene.reconcile(30_000);
    expect(scene.ready()).toContain('True');
    await scene.look();
    expect(scene.cloud.freshened).toHaveLength(2);
  });
});

describe('a detach that Nova has not written down', () => {
  beforeEach(() => {
    scene.cloud.holdNovaEvents();
    detach(scene.cloud, 1);
    scene.hint({ servers: [first] });
  });

  it('is asked about again after 1, 2 and 5 seconds before anybody is told', async () => {
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

  it('is brought about as soon as Nova has', async () => {
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.releaseNovaEvents();
    await scene.reconcile(1_000);
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.viola.lists).toEqual([]);
    await scene.look(2_000);
    expect(scene.ready()).toContain('True');
  });

  it('is said to be waited for', async () => {
    const accountMs = (await scene.reconcile(300)) ?? 0;
    await scene.reconcile(accountMs);
    await scene.reconcile(1_000);
    expect(scene.condition('Reconciling')).toMatchObject({
      reason: 'Waiting',
      message: 'worker-1: Nova has not written down a detach yet',
    });
  });
});

it('a large removal that is seen server by server is held like one that is seen at once', async () => {
  for (let n = 3; n <= 20; n++) attach(scene.cloud, n, n % 2 === 0 ? 2 : 1);
  await scene.look();
  await scene.clock.advance(1_000);
  for (let n = 1; n <= 20; n += 2) detach(scene.cloud, n);
  scene.hint({ servers: [first] });
  await scene.reconcile(300);
  expect(scene.nics('worker-1')).toEqual([]);
  detach(scene.cloud, 2);
  scene.hint({ servers: [second] });
  await scene.reconcile(300);
  expect(scene.nics('worker-2')).toHaveLength(10);
  await scene.look(2_000);
  expect(scene.ready()).toContain('False RemovalHeld');
  await scene.look(60_000);
  expect(scene.nics('worker-2')).toHaveLength(9);
});

it('a removal that was not taken is none of many when it is tried again', async () => {
  for (let n = 3; n <= 20; n++) attach(scene.cloud, n, n % 2 === 0 ? 2 : 1);
  await scene.look();
  await scene.clock.advance(1_000);
  for (let n = 1; n <= 11; n += 2) detach(scene.cloud, n);
  scene.viola.refused.set('worker-1', 'FieldConflict');
  scene.hint({ servers: [first] });
  await scene.reconcile(300);
  scene.viola.refused.clear();
  await scene.look(2_000);
  expect(scene.ready()).toContain('True');
  expect(scene.nics('worker-1')).toHaveLength(4);
});

it('what was said while all are accounted for counts with what is said next', async () => {
  for (let n = 3; n <= 20; n++) attach(scene.cloud, n, n % 2 === 0 ? 2 : 1);
  await scene.look();
  await scene.clock.advance(1_000);
  scene.hint({ servers: [first] });
  await scene.reconcile(300);
  await scene.clock.advance(1_000);
  for (let n = 1; n <= 20; n += 2) detach(scene.cloud, n);
  scene.hint({ servers: [first] });
  await scene.reconcile(1_000);
  expect(scene.nics('worker-1')).toEqual([]);
  detach(scene.cloud, 2);
  scene.hint({ servers: [second] });
  await scene.reconcile(300);
  expect(scene.nics('worker-2')).toHaveLength(10);
});

it('the NICs of the whole cloud are the measure of a removal, however few servers are looked at', async () => {
  const ids = Array.from({ length: 6 }, (_, n) => `00000000-0000-4000-8000-00000000010${n}`);
  scene.cloud.vms = ids.map((id, n) => ({ id, name: `w-${n}`, status: 'ACTIVE', metadata: {} }));
  scene.cloud.ports = [];
  for (let n = 1; n <= 60; n++) attach(scene.cloud, n, 1);
  scene.cloud.ports = scene.cloud.ports.map((port, at) => ({
    ...port,
    deviceId: ids[at % 6] ?? '',
  }));
  scene.edit({ vmNames: ids });
  await scene.look();
  await scene.clock.advance(1_000);
  for (const n of [1, 2, 7, 8, 13, 14, 19, 20, 25, 26, 31]) detach(scene.cloud, n);
  scene.hint({ servers: ids.slice(0, 2) });
  await scene.reconcile(300);
  expect(scene.nics('w-0')).toHaveLength(4);
  expect(scene.nics('w-1')).toHaveLength(5);
});
