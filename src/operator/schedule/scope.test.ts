import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../testing/scene.ts';

const [first = '', second = ''] = serverIds;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('the account that follows a look at some servers', () => {
  it('looks for ports itself where nobody has: another cloud is read as a whole', async () => {
    await delivered(scene);
    await scene.look();
    await scene.clock.advance(1_000);
    attach(scene.cloud, 3, 1);
    scene.hint({ servers: [first] });
    const accountMs = (await scene.reconcile(300)) ?? 0;
    // The password was changed: what was known by the old one is known no more.
    const renewed = new FakeCloud();
    Object.assign(renewed, {
      ports: scene.cloud.ports,
      vms: scene.cloud.vms,
      subnets: scene.cloud.subnets,
      networks: scene.cloud.networks,
    });
    scene.clouds.projects.set('project-1', renewed);
    await scene.reconcile(accountMs);
    expect(renewed.log.filter((line) => line.startsWith('port'))).toEqual(['portsOf 2']);
    expect(scene.ready()).toContain('True');
  });
});

describe('a hint that comes in the middle of the first look', () => {
  beforeEach(() => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create();
    const portsOf = scene.cloud.portsOf.bind(scene.cloud);
    scene.cloud.portsOf = async (servers) => {
      scene.cloud.portsOf = portsOf;
      const ports = await portsOf(servers);
      await scene.clock.advance(10);
      attach(scene.cloud, 3, 2);
      scene.hint({ servers: [second] });
      return ports;
    };
  });

  it('is followed as soon as that has ended', async () => {
    expect(await scene.reconcile(0)).toBe(0);
    await scene.reconcile(0);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
  });

  it('hastens nothing when that fails', async () => {
    scene.viola.fail(503);
    expect(await scene.reconcile(0)).toBe(30_000);
  });
});

it('a server in doubt whose object is gone is not asked about all the time', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  scene.cloud.holdNovaEvents();
  scene.cloud.ports = scene.cloud.ports.filter(({ id }) => id !== 'p1');
  scene.hint({ servers: [first] });
  await scene.reconcile(300);
  scene.viola.nodes.delete('worker-1');
  scene.cloud.fail('servers', 'timeout');
  expect(await scene.reconcile(1_000)).toBeGreaterThan(0);
});

it('a server of which something is said together with its network is not all that is looked at', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  attach(scene.cloud, 3, 2);
  scene.hint({ servers: [first], networks: ['net-a'] });
  await scene.reconcile(300);
  expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
});

it('a port that moves concerns the server that it leaves and the one that it comes to', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === 'p1' ? { ...port, deviceId: second, revisionNumber: 2 } : port,
  );
  scene.cloud.log.length = 0;
  scene.hint({ servers: [second], ports: ['p1'] });
  await scene.reconcile(300);
  expect([scene.nics('worker-1'), scene.nics('worker-2')]).toEqual([
    [],
    ['multinic0=p2', 'multinic1=p1'],
  ]);
  expect(scene.cloud.log.filter((line) => line.startsWith('portsOf'))).toEqual(['portsOf 2']);
});

it('what is said of a server takes nothing from what was said of all', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  attach(scene.cloud, 3, 2);
  scene.hint({ whole: true });
  scene.hint({ servers: [first] });
  await scene.reconcile(300);
  expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
});

describe('a port that is detached before anybody has seen where it was', () => {
  beforeEach(async () => {
    await delivered(scene);
    await scene.look();
    await scene.clock.advance(1_000);
    attach(scene.cloud, 3, 1);
    scene.hint({ servers: [first], ports: ['p3'] });
    const portsOf = scene.cloud.portsOf.bind(scene.cloud);
    scene.cloud.portsOf = async (servers) => {
      scene.cloud.portsOf = portsOf;
      const ports = await portsOf(servers);
      await scene.clock.advance(10);
      detach(scene.cloud, 3, false);
      // Nobody says whose it was.
      scene.hint({ ports: ['p3'] });
      await scene.clock.advance(10);
      return ports;
    };
    scene.cloud.log.length = 0;
  });

  it('is not delivered, and costs one list more', async () => {
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.cloud.log.filter((line) => line.startsWith('port'))).toEqual([
      'portsOf 1',
      'portsOf 1',
    ]);
  });
});
