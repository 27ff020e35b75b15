import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestError } from '../../requests/request-error.ts';
import { attach, type Scene, setScene } from '../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function delivered(): Promise<void> {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 2);
  scene.create();
  await scene.look();
}

describe('a CR that is deleted', () => {
  it('goes when every node is clean, without asking OpenStack for anything', async () => {
    await delivered();
    const calls = scene.cloud.calls;
    scene.clouds.provided = new RequestError('down', { service: 'contrabass', kind: 'timeout' });
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toBe('False Deleting: waits for cleanup on worker-1, worker-2');
    expect(scene.condition('CredentialsValid')).toBeUndefined();
    await scene.look();
    expect(scene.viola.removals).toHaveLength(2);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    expect(await scene.store.list()).toEqual([]);
    expect(scene.cloud.calls).toBe(calls);
  });

  it('stays while a node that was delivered is merely missing from the list', async () => {
    await delivered();
    scene.kube.delete();
    scene.viola.unlisted.add('worker-1');
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
    const node = scene.viola.nodes.get('worker-2');
    if (node) scene.viola.nodes.delete('worker-2');
    await scene.look();
    expect(scene.object()).toBeDefined();
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('waits for Viola, and says so', async () => {
    await delivered();
    scene.kube.delete();
    scene.viola.fail(503);
    await scene.look();
    expect(scene.ready()).toBe('False ViolaPostError: viola: unexpected status 503');
    scene.viola.outage = undefined;
    await scene.look();
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('goes at once when nothing was ever delivered, whatever is wrong with it', async () => {
    scene.create({ credentials: {} });
    await scene.look();
    scene.kube.delete();
    expect(scene.object()).toBeUndefined();
    await scene.look();
  });

  it('leaves the nodes as they are with deletionPolicy Retain', async () => {
    await delivered();
    scene.edit({ settings: { deletionPolicy: 'Retain' } });
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it('never touches nodes of another CR', async () => {
    await delivered();
    const source = { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 };
    const spec = { nodeName: 'worker-9', interfaces: [] };
    scene.viola.put({ nodeName: 'worker-9', uid: 'u', generation: 1, source, spec });
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals).not.toContain('worker-9');
  });
});

describe('a CR that went while nobody looked', () => {
  it('leaves no records behind', async () => {
    await delivered();
    scene.kube.configs.replace([]);
    await scene.look();
    expect(await scene.store.list()).toEqual([]);
  });
});
