import { describe, expect, it } from 'vitest';
import { attach, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

class Killed extends Error {}

/** Attach two, detach one, take a server out, delete: every kind of write happens. */
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

/** Looks until nothing is left to do; a killed process is started again without what it remembered. */
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

describe('an operator that is killed', async () => {
  const { writes, end } = await cleanRun();

  it.each(Array.from({ length: writes }, (_, at) => at))(
    'at write %i ends where the clean run does',
    async (at) => {
      await using scene = await setScene();
      scene.killAt(at, new Killed('killed'));
      await play(scene);
      expect(await endState(scene)).toEqual(end);
    },
  );

  it('while it takes everything back still lets the object go', async () => {
    for (let at = 0; at < 12; at++) {
      await using scene = await setScene();
      attach(scene.cloud, 1, 1);
      attach(scene.cloud, 2, 2);
      scene.create();
      await settle(scene);
      scene.kube.delete();
      scene.killAt(scene.effects.length + at, new Killed('killed'));
      await settle(scene);
      // Until nothing that the killed process had sent can arrive.
      await scene.look(60_000);
      expect(scene.object()).toBeUndefined();
      expect([...scene.viola.nodes.keys()]).toEqual([]);
      expect(await scene.store.list()).toEqual([]);
    }
  });
});
