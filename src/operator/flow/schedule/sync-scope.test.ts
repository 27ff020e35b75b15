import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';

const [first = '', second = ''] = serverIds;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('the follow-up to a partial sync', () => {
  it('the follow-up sync lists all ports when a new password replaces the cloud client', async () => {
    await delivered(scene);
    await scene.look();
    await scene.clock.advance(1_000);
    attach(scene.cloud, 3, 1);
    scene.cloudEvent({ servers: [first] });
    const accountMs = (await scene.reconcile(300)) ?? 0;
    // Caches belong to the old password.
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

describe('a cloud event during the first sync', () => {
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
      scene.cloudEvent({ servers: [second] });
      return ports;
    };
  });

  it('a cloud event during the first sync starts a sync as soon as the first sync has ended', async () => {
    expect(await scene.reconcile(0)).toBe(0);
    await scene.reconcile(0);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
  });

  it('a cloud event during a failing first sync does not shorten the retry delay', async () => {
    scene.viola.fail(503);
    expect(await scene.reconcile(0)).toBe(30_000);
  });
});

it('an unconfirmed removal without its object is not retried immediately', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  scene.cloud.holdNovaEvents();
  scene.cloud.ports = scene.cloud.ports.filter(({ id }) => id !== 'p1');
  scene.cloudEvent({ servers: [first] });
  await scene.reconcile(300);
  scene.viola.nodes.delete('worker-1');
  scene.cloud.fail('servers', 'timeout');
  expect(await scene.reconcile(1_000)).toBeGreaterThan(0);
});

it('an event for a server and its network starts a sync of all servers', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  attach(scene.cloud, 3, 2);
  scene.cloudEvent({ servers: [first], networks: ['net-a'] });
  await scene.reconcile(300);
  expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
});

it('an event for a moved port syncs the old and the new server', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === 'p1' ? { ...port, deviceId: second, revisionNumber: 2 } : port,
  );
  scene.cloud.log.length = 0;
  scene.cloudEvent({ servers: [second], ports: ['p1'] });
  await scene.reconcile(300);
  expect([scene.nics('worker-1'), scene.nics('worker-2')]).toEqual([
    [],
    ['multinic0=p2', 'multinic1=p1'],
  ]);
  expect(scene.cloud.log.filter((line) => line.startsWith('portsOf'))).toEqual(['portsOf 2']);
});

it('an event for one server does not narrow an earlier whole-cloud event', async () => {
  await delivered(scene);
  await scene.look();
  await scene.clock.advance(1_000);
  attach(scene.cloud, 3, 2);
  scene.cloudEvent({ whole: true });
  scene.cloudEvent({ servers: [first] });
  await scene.reconcile(300);
  expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
});

describe('a port detached during its first list', () => {
  beforeEach(async () => {
    await delivered(scene);
    await scene.look();
    await scene.clock.advance(1_000);
    attach(scene.cloud, 3, 1);
    scene.cloudEvent({ servers: [first], ports: ['p3'] });
    const portsOf = scene.cloud.portsOf.bind(scene.cloud);
    scene.cloud.portsOf = async (servers) => {
      scene.cloud.portsOf = portsOf;
      const ports = await portsOf(servers);
      await scene.clock.advance(10);
      detach(scene.cloud, 3, false);
      // The event names no server.
      scene.cloudEvent({ ports: ['p3'] });
      await scene.clock.advance(10);
      return ports;
    };
    scene.cloud.log.length = 0;
  });

  it('a port detached during its first list is not delivered, and costs one more list', async () => {
    await scene.reconcile(300);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.cloud.log.filter((line) => line.startsWith('port'))).toEqual([
      'portsOf 1',
      'portsOf 1',
    ]);
  });
});
