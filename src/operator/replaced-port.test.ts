import { afterEach, beforeEach, expect, it } from 'vitest';
import { delivered, detach, type Scene, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Replaces port p1 of worker-1 by port p1b with the same MAC. */
function replacePort(change: object = {}): void {
  const old = scene.cloud.ports.find(({ id }) => id === 'p1');
  detach(scene.cloud, 1);
  if (old) scene.cloud.ports.push({ ...old, id: 'p1b', revisionNumber: 1, ...change });
}

async function history() {
  const changes = await scene.store.changes({ limit: 1, nodeName: 'worker-1' });
  return changes.map(({ change: { change, before, after } }) =>
    [change, before?.portId, after?.portId].join(' '),
  );
}

const inB = { networkId: 'net-b', fixedIps: [{ subnetId: 'sub-b', ipAddress: '10.0.20.9' }] };

it.each<[string, object, boolean]>([
  ['its network', {}, false],
  ['a second network', inB, true],
])(
  'a port made again in %s takes the NIC over in a single sync without a removal',
  async (_, change, isRead) => {
    scene.edit({ subnetIDs: ['sub-a', 'sub-b'] });
    await scene.look();
    replacePort(change);
    scene.cloud.log.length = 0;
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1b']);
    expect(scene.viola.posts.flat().at(-1)).not.toHaveProperty('removals');
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toBe('True Synced: synced 1 node');
    expect(scene.cloud.log.includes('port p1')).toBe(isRead);
    expect(await history()).toEqual(['port-replaced p1 p1b']);
  },
);

it('a port made again heals a NIC whose former port was reported as unconfirmed', async () => {
  scene.cloud.holdNovaEvents();
  const old = scene.cloud.ports.find(({ id }) => id === 'p1');
  detach(scene.cloud, 1);
  for (let n = 0; n < 5; n++) await scene.look(60_000);
  expect(scene.ready()).toContain('False RemovalUnconfirmed');
  if (old) scene.cloud.ports.push({ ...old, id: 'p1b' });
  scene.cloud.releaseNovaEvents();
  await scene.look(60_000);
  expect(scene.nics('worker-1')).toEqual(['multinic0=p1b']);
  expect(scene.ready()).toBe('True Synced: synced 1 node');
});
