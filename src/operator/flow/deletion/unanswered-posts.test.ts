import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { unansweredPosts } from '../../clusters/deliver/unanswered-posts.ts';
import { ConfigMemories } from '../../model/memory/config-memory.ts';
import { openstackConfigs } from '../../model/openstack-config.ts';
import { attach, type Scene, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('an OpenstackConfig deleted while a POST may still arrive', () => {
  it('a deleted OpenstackConfig stays until its unanswered POST has expired', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.clock.advance(60_000);
    scene.viola.stick();
    await scene.look();
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.nodes.size).toBe(0);
    expect(scene.ready()).toBe(
      'False Deleting: waits for unanswered POSTs to business cluster "biz-1", which may still arrive',
    );
    await scene.viola.unstick();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    scene.viola.clean();
    await scene.look(30_000);
    expect(scene.object()).toBeUndefined();
  });

  it.each(['ClusterUnreachable', 'Internal'] as const)(
    'a deleted OpenstackConfig stays until its POST has expired when Viola reports %s for a node',
    async (code) => {
      attach(scene.cloud, 1, 1);
      scene.create();
      await scene.clock.advance(60_000);
      scene.viola.stick(code);
      await scene.look();
      scene.kube.delete();
      await scene.look();
      expect(scene.object()).toBeDefined();
      await scene.viola.unstick();
      await scene.look();
      scene.viola.clean();
      await scene.look(30_000);
      expect([scene.object(), scene.viola.nodes.size]).toEqual([undefined, 0]);
    },
  );

  it('a deleted OpenstackConfig stays until its POST has expired when its status was lost', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.clock.advance(60_000);
    scene.viola.stick();
    await scene.look();
    const lost = { metadata: { namespace: 'multinic-system', name: 'osc' }, status: {} };
    await scene.kube.applyStatus(openstackConfigs, lost, { fieldManager: 'people', force: true });
    scene.viola.refused.set('worker-1', 'Invalid');
    await scene.look(5_000);
    scene.kube.delete();
    await scene.look(1_000);
    expect(scene.object()).toBeDefined();
    await scene.look(35_000);
    expect(scene.object()).toBeUndefined();
  });

  it('a deleted OpenstackConfig goes at once when Viola refused its nodes', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.clock.advance(60_000);
    scene.viola.refused.set('worker-1', 'Invalid');
    await scene.look();
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('a deleted OpenstackConfig stays as long after a restart, because earlier POSTs are unknown', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.clock.advance(60_000);
    scene.viola.stick();
    await scene.look();
    await scene.clock.advance(60_000);
    scene.restart();
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeDefined();
    await scene.viola.unstick();
    await scene.look(60_000);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    expect(scene.viola.nodes.size).toBe(0);
  });
});

it("a former leader's POST may still arrive when this process starts a new term", () => {
  const clock = createFakeClock();
  const memories = new ConfigMemories({ clock, random: () => 0.5, clouds: [], others: [] });
  const metadata = { namespace: 'multinic-system', name: 'osc', uid: 'cr-uid' };
  const memory = memories.of({ metadata });
  unansweredPosts.of(memory.term).begin('biz-1');
  expect(unansweredPosts.of(memory.term).openForMs('biz-1')).toBe(0);
  memories.startTerm();
  expect(unansweredPosts.of(memory.term).openForMs('biz-1')).toBeGreaterThan(0);
});
