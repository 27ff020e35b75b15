import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, type Scene, serverIds, setScene } from '../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function delivered(): Promise<void> {
  attach(scene.cloud, 1, 1);
  scene.create();
  await scene.look();
}

describe('the business cluster moving under the plan', () => {
  it('is read again and planned again in the same look', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      const node = scene.viola.nodes.get('worker-1');
      if (node) scene.viola.put({ ...node, generation: 7 });
    };
    await scene.look();
    expect(scene.viola.posts.at(-1)?.map(({ base }) => base?.generation)).toEqual([7]);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toBe('True Synced: synced 1 node(s)');
  });

  it('frees a name that the list still had in use: the new NIC gets the lowest one', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const leaving = { id: 1, name: 'multinic1', portId: 'p9' };
    scene.viola.listedAs.set('worker-1', { ...node, status: { interfaceStatuses: [leaving] } });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toBe('True Synced: synced 1 node(s)');
  });

  it('leaves a name in use that the node itself still reports', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const leaving = { id: 1, name: 'multinic1', portId: 'p9' };
    scene.viola.put({ ...node, status: { interfaceStatuses: [leaving] } });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic2=p3']);
  });

  it('for ever is given up until the next poll', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    scene.viola.beforePost = () => {
      const node = scene.viola.nodes.get('worker-1');
      if (node) scene.viola.put({ ...node, generation: node.generation + 1 });
    };
    await scene.look();
    expect(scene.viola.posts).toHaveLength(4);
    expect(scene.ready()).toBe(
      'False ViolaPostError: viola: node worker-1 changes all the time; tried again at the next poll',
    );
  });

  it('by another CR that was faster is a conflict, and its object stays', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    const source = { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 };
    const theirs = { nodeName: 'worker-1', instanceId: serverIds[0] ?? '', interfaces: [] };
    scene.viola.beforePost = () =>
      scene.viola.put({ nodeName: 'worker-1', uid: 'u', generation: 1, source, spec: theirs });
    await scene.look();
    expect(scene.ready()).toContain('False NameConflict: node worker-1 is configured by');
    expect(scene.nics('worker-1')).toEqual([]);
  });
});
