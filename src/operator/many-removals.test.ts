import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function twentyDelivered(): Promise<void> {
  for (let n = 1; n <= 10; n++) attach(scene.cloud, n, 1);
  for (let n = 11; n <= 20; n++) attach(scene.cloud, n, 2);
  scene.create();
  await scene.look();
}

describe('many removals at once', () => {
  it('11 removals wait for allow-removals, and each value is used once', async () => {
    await twentyDelivered();
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    await scene.look();
    expect(scene.ready()).toContain('False RemovalHeld: 11 NICs would be removed at once');
    expect(scene.nics('worker-1')).toHaveLength(10);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
    for (let n = 21; n <= 31; n++) attach(scene.cloud, n, n < 31 ? 1 : 2);
    await scene.look();
    for (let n = 21; n <= 31; n++) detach(scene.cloud, n);
    await scene.look();
    expect(scene.ready()).toContain('RemovalHeld');
  });

  it('11 removals stay blocked when a node is planned again during delivery', async () => {
    for (let n = 1; n <= 9; n++) attach(scene.cloud, n, 1);
    for (let n = 11; n <= 12; n++) attach(scene.cloud, n, 2);
    scene.create();
    await scene.look();
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12]) detach(scene.cloud, n);
    attach(scene.cloud, 20, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      const node = scene.viola.nodes.get('worker-1');
      if (node) scene.viola.put({ ...node, generation: 7 });
    };
    await scene.look();
    expect(scene.ready()).toContain('RemovalHeld');
    expect(scene.nics('worker-1')).toHaveLength(10);
  });

  it('a removal approval stays open until every approved removal is delivered', async () => {
    await twentyDelivered();
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    scene.viola.refused.set('worker-1', 'FieldConflict');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(scene.status().lastHandledAllowRemovals).toBeUndefined();
    scene.viola.refused.clear();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it.each([
    ['works', 0],
    ['fails', 503],
  ])(
    '11 removals wait although a recreated CR carries an old allow-removals value, when its first sync %s',
    async (_, status) => {
      await twentyDelivered();
      for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
      scene.kube.configs.replace([]);
      const annotations = { 'multinic.io/allow-removals': 'last year' };
      scene.create({}, { uid: 'cr-uid-2', annotations });
      if (status > 0) scene.viola.fail(status);
      await scene.look();
      scene.viola.outage = undefined;
      for (let syncs = 0; syncs < 3; syncs++) {
        await scene.look(300_000);
        expect(scene.ready()).toContain('False RemovalHeld: 11 NICs would be removed at once');
        expect(scene.nics('worker-1')).toHaveLength(10);
      }
      scene.kube.annotate({ 'multinic.io/allow-removals': 'today' });
      await scene.look();
      expect(scene.nics('worker-1')).toEqual([]);
    },
  );

  it('20 removals wait for approval even if an edit deselects their servers', async () => {
    await twentyDelivered();
    scene.edit({ vmNames: [serverIds[2] ?? ''] });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain('False RemovalHeld: 20 NICs would be removed at once');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'today' });
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
  });
});
