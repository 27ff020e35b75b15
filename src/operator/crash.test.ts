import { describe, expect, it } from 'vitest';
import { attach, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

class Killed extends Error {}

/** Attaches three ports, detaches one port, deselects a server: every kind of write occurs. */
async function play(scene: Scene): Promise<void> {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 1);
  attach(scene.cloud, 3, 2);
  scene.create();
  await settle(scene);
  detach(scene.cloud, 1);
  await settle(scene);
  scene.edit({ vmNames: serverIds.slice(0, 1) });
  await settle(scene);
}

/** Syncs until nothing is left to do; a killed operator restarts without its memory. */
async function settle(scene: Scene): Promise<void> {
  for (let round = 0; round < 5; round++) {
    try {
      await scene.look();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      scene.restart();
    }
    scene.viola.clean();
  }
}

async function endState(scene: Scene) {
  const records = await scene.store.list();
  return {
    nodes: [...scene.viola.nodes.values()].map(({ uid: _uid, ...node }) => node),
    inventory: records.map(({ updatedAt: _at, ...record }) => record),
    ready: scene.ready(),
    finalizers: scene.object()?.metadata.finalizers,
  };
}

async function cleanRun() {
  await using scene = await setScene();
  await play(scene);
  return { writes: scene.effects.length, end: await endState(scene) };
}

describe('a killed operator', async () => {
  const { writes, end } = await cleanRun();

  it.each(Array.from({ length: writes }, (_, at) => at))(
    'killed at write %i, the operator reaches the same end state as an undisturbed run',
    async (at) => {
      await using scene = await setScene();
      scene.killAt(at, new Killed('killed'));
      await play(scene);
      expect(await endState(scene)).toEqual(end);
    },
  );

  it('an operator killed while removing its nodes still releases the deleted object', async () => {
    for (let at = 0; at < 12; at++) {
      await using scene = await setScene();
      attach(scene.cloud, 1, 1);
      attach(scene.cloud, 2, 2);
      scene.create();
      await settle(scene);
      scene.kube.delete();
      scene.killAt(scene.effects.length + at, new Killed('killed'));
      await settle(scene);
      // Wait until no request from the killed process can arrive.
      await scene.look(60_000);
      expect(scene.object()).toBeUndefined();
      expect([...scene.viola.nodes.keys()]).toEqual([]);
      expect(await scene.store.list()).toEqual([]);
    }
  });
});
