import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered, environment, type Scene, setScene } from './testing/scene.ts';

const minuteMs = 60_000;
let scene: Scene;
let dueMs = 0;

beforeEach(async () => {
  const slow = { POLL_SLOW_INTERVAL: '1h', POLL_FAST_INTERVAL: '1h' };
  scene = await setScene({ ...environment, ...slow });
  await delivered(scene);
  // Long after the last change.
  dueMs = (await scene.look(30 * minuteMs)) ?? Number.POSITIVE_INFINITY;
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('node configs in a business cluster with hourly polls', () => {
  it('a node config is compared within 10 minutes although polls are hourly', () => {
    expect(dueMs).toBeGreaterThan(5 * minuteMs);
    expect(dueMs).toBeLessThanOrEqual(10 * minuteMs);
  });

  it('a deleted node config is restored at the next comparison without a change in OpenStack', async () => {
    scene.viola.nodes.delete('worker-1');
    await scene.reconcile(dueMs);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it('an edited node config is restored at the next comparison', async () => {
    const node = scene.viola.nodes.get('worker-1');
    if (!node) throw new Error('worker-1 was not delivered');
    const interfaces = node.spec.interfaces?.map((nic) => ({ ...nic, mtu: 1_300 }));
    scene.viola.put({ ...node, spec: { ...node.spec, interfaces: interfaces ?? [] } });
    await scene.reconcile(dueMs);
    expect(scene.viola.nodes.get('worker-1')?.spec.interfaces).toEqual(node.spec.interfaces);
  });

  it('an unchanged node config is not posted again at the next comparison', async () => {
    const posts = scene.viola.posts.length;
    await scene.reconcile(dueMs);
    expect(scene.viola.posts).toHaveLength(posts);
  });
});
