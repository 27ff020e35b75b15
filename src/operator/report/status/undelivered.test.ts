import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InterfaceStatus } from '../../../api/multinicnodeconfig.ts';
import { attach, delivered, type Scene, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Marks a node's object as deleted; the node cannot be cleaned. */
function deleteObject(nodeName: string): void {
  const node = scene.viola.nodes.get(nodeName);
  if (!node) throw new Error(`no node ${nodeName}`);
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  scene.viola.put({ ...node, generation: node.generation + 1, deletionTimestamp });
}

async function lookFor(minutes: number): Promise<void> {
  for (let n = 0; n < minutes; n++) await scene.look(60_000);
}

describe('planned NICs missing in the business cluster', () => {
  it('[W1] missing planned NICs make Ready False after five minutes, with node, port and cause', async () => {
    deleteObject('worker-1');
    await lookFor(1);
    expect(scene.condition('Delivered')).toMatchObject({ status: 'False', reason: 'Waiting' });
    expect(scene.condition('Ready')?.status).toBe('True');
    await lookFor(6);
    expect(scene.ready()).toBe(
      'False Waiting: node worker-1: port p1 is not delivered: its former MultiNicNodeConfig is still being deleted',
    );
    expect(await scene.metrics.registry.metrics()).toContain(
      'multinic_openstack_configs_not_ready{reason="Waiting"} 1',
    );
    scene.viola.clean();
    await lookFor(1);
    expect(scene.condition('Ready')?.status).toBe('True');
    expect(scene.condition('Delivered')?.status).toBe('True');
  });

  it('[W1] missing planned NICs make Ready False after five minutes across a restart', async () => {
    deleteObject('worker-1');
    await lookFor(3);
    scene.restart();
    await lookFor(3);
    expect(scene.ready()).toContain('False Waiting');
  });

  it('[W1] missing planned NICs make Ready False when Viola reports a deleted object at every sync', async () => {
    const listed = scene.viola.nodes.get('worker-1');
    if (!listed) throw new Error('no node');
    attach(scene.cloud, 3, 1);
    deleteObject('worker-1');
    // Viola's lists are a few seconds old.
    scene.viola.listedAs.set('worker-1', listed);
    await lookFor(8);
    expect(scene.ready()).toContain(
      'False Waiting: node worker-1: port p1 and 1 more are not delivered',
    );
  });

  it('[W1] a NIC waiting for a free name does not make Ready False', async () => {
    const node = scene.viola.nodes.get('worker-1');
    if (!node) throw new Error('no node');
    const interfaceStatuses = Array.from(
      { length: 10 },
      (_, id): InterfaceStatus => ({ id, name: `multinic${id}` }),
    );
    scene.viola.put({ ...node, status: { interfaceStatuses } });
    attach(scene.cloud, 3, 1);
    await lookFor(9);
    expect(scene.condition('Ready')?.status).toBe('True');
    expect(scene.ready()).toContain('1 WaitingForName');
  });

  it('[W1] a deselected node does not make Ready False', async () => {
    scene.edit({ vmNames: ['00000000-0000-4000-8000-000000000002'] });
    await lookFor(9);
    expect(scene.viola.nodes.get('worker-1')?.deletionTimestamp).toBeDefined();
    expect(scene.condition('Ready')?.status).toBe('True');
  });
});
