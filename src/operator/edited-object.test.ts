import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, delivered, type Scene, serverIds, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('a node object with an edited instance id', () => {
  it.each([
    ['an unselected server', serverIds[2]],
    ['a selected server', serverIds[1]],
    ['a missing server', 'no-such-server'],
    ['no server', undefined],
  ])(
    'a node object edited to %s keeps its NICs, and gets its own instance id back',
    async (_what, instanceId) => {
      await delivered(scene);
      const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
      const spec = { ...node.spec, instanceId };
      scene.viola.put({ ...node, generation: 2, spec });
      await scene.look();
      expect(scene.viola.removals).toEqual([]);
      expect(scene.viola.nodes.get('worker-1')).toMatchObject({ uid: node.uid, spec: node.spec });
      expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
      await scene.look();
      expect(scene.ready()).toBe('True NoChange: no changes detected');
    },
  );

  it('removing a node object edited to a second server takes no NIC from the second server', async () => {
    await delivered(scene);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const spec = { ...node.spec, instanceId: serverIds[1] };
    scene.viola.put({ ...node, generation: 2, spec });
    scene.edit({ vmNames: serverIds.slice(1, 2) });
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
  });

  it.each([
    ['without ports', 0],
    ['with a port', 1],
  ])(
    'a node object with only its label edited, to a server %s, keeps its NICs',
    async (_what, ports) => {
      attach(scene.cloud, 1, 1);
      scene.create();
      await scene.look();
      if (ports > 0) attach(scene.cloud, 2, 2);
      const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
      scene.viola.put({ ...node, labelledInstanceId: serverIds[1] });
      await scene.look();
      expect(scene.viola.nodes.get('worker-1')?.spec).toEqual(node.spec);
      expect(scene.nics('worker-2')).toHaveLength(ports);
      expect(scene.ready()).toContain('True');
    },
  );

  it('a node object with an edited instance id is removed when its original server is deselected', async () => {
    await delivered(scene);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    scene.viola.put({ ...node, generation: 2, spec: { ...node.spec, instanceId: 'other' } });
    scene.edit({ vmNames: serverIds.slice(1, 2) });
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
  });
});
