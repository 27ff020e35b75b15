import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NodeConfigStatus } from '../../../api/multinicnodeconfig.ts';
import { attach, delivered, type Scene, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
});

afterEach(async () => scene[Symbol.asyncDispose]());

function report(nodeName: string, status: NodeConfigStatus): void {
  const node = scene.viola.nodes.get(nodeName);
  if (!node) throw new Error(`no node ${nodeName}`);
  scene.viola.put({ ...node, status: { observedGeneration: node.generation, ...status } });
}

function nicsReady(): string {
  const { status, reason, message } = scene.condition('NICsReady') ?? {};
  return `${scene.status().summary?.nics} ${status} ${reason}: ${message}`;
}

const failed = {
  state: 'Failed',
  conditions: [{ type: 'Ready', status: 'False', reason: 'WaitingForNIC', message: 'no such MAC' }],
} as const;

describe('NICsReady', () => {
  it('[H3] NICsReady is False, with count 1/2, while one of two nodes has not configured its NIC', async () => {
    report('worker-1', { state: 'Configured' });
    report('worker-2', { ...failed, conditions: [...failed.conditions] });
    await scene.look();
    expect(nicsReady()).toBe(
      '1/2 False NICsNotConfigured: 1 of 2 planned NICs is configured; node worker-2: 0 of 1, WaitingForNIC: no such MAC',
    );
    expect(scene.condition('Ready')?.status).toBe('True');
  });

  it('[H3] NICsReady is True when all nodes have configured their NICs', async () => {
    for (const name of ['worker-1', 'worker-2']) report(name, { state: 'Configured' });
    await scene.look();
    expect(nicsReady()).toBe('2/2 True NICsConfigured: all 2 planned NICs are configured');
  });

  it('[H3] NICsReady does not count a status from an earlier generation', async () => {
    report('worker-1', { state: 'Configured' });
    report('worker-2', { state: 'Configured', observedGeneration: 0 });
    await scene.look();
    expect(nicsReady()).toContain('1/2 False NICsNotConfigured');
    expect(nicsReady()).toContain(
      'node worker-2: 0 of 1, its status is from an earlier generation',
    );
  });

  it('[H3] NICsReady does not count a Configured object without the planned content', async () => {
    for (const name of ['worker-1', 'worker-2']) report(name, { state: 'Configured' });
    await scene.look();
    attach(scene.cloud, 3, 1);
    scene.viola.refused.set('worker-1', 'FieldConflict');
    await scene.look();
    expect(nicsReady()).toContain('2/3 False NICsNotConfigured');
    expect(nicsReady()).toContain(
      'worker-1: 1 of 2, its MultiNicNodeConfig does not have the planned NICs yet',
    );
  });

  it('[H3] NICsReady counts single NICs on a node with one failed NIC out of two', async () => {
    attach(scene.cloud, 3, 1);
    await scene.look();
    const interfaceStatuses = [
      { portId: 'p1', status: 'Configured' },
      { portId: 'p3', status: 'Failed' },
    ];
    report('worker-1', { state: 'Failed', interfaceStatuses });
    report('worker-2', { state: 'Configured' });
    await scene.look();
    expect(nicsReady()).toContain('2/3 False NICsNotConfigured');
    expect(nicsReady()).toContain('worker-1: 1 of 2, its state is Failed');
  });

  it.each(['ImagePullFailed', 'NodeNotFound', 'DuplicateSystemUUID', 'JobFailed'])(
    '[H3] NICsReady does not count earlier NIC statuses on a node after Ready became False with %s',
    async (reason) => {
      for (const name of ['worker-1', 'worker-2']) report(name, { state: 'Configured' });
      await scene.look();
      const conditions = [{ type: 'Ready', status: 'False', reason, message: '' } as const];
      const interfaceStatuses = [{ portId: 'p1', status: 'Configured' as const }];
      report('worker-1', { state: 'Failed', interfaceStatuses, conditions: [...conditions] });
      await scene.look();
      expect(nicsReady()).toContain('1/2 False NICsNotConfigured');
    },
  );

  it('[H3] NICsReady counts the remaining NICs while a removal on the node is blocked', async () => {
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'RemovalHeld', message: '' } as const,
    ];
    const interfaceStatuses = [{ portId: 'p1', status: 'Configured' as const }];
    report('worker-1', { state: 'Failed', interfaceStatuses, conditions: [...conditions] });
    report('worker-2', { state: 'Configured' });
    await scene.look();
    expect(nicsReady()).toContain('2/2 True');
  });

  it('[H3] NICsReady is Unknown while the business cluster reports no status', async () => {
    report('worker-1', { state: 'Configured' });
    await scene.look();
    expect(nicsReady()).toContain('1/2 Unknown NoNodeStatus');
    expect(nicsReady()).toContain('node worker-2');
  });

  it('[H3] NICsReady stays unchanged while syncs fail, but becomes Unknown after an edit', async () => {
    for (const name of ['worker-1', 'worker-2']) report(name, { state: 'Configured' });
    await scene.look();
    scene.cloud.fail('portsOf', 'serverError');
    await scene.look();
    expect(scene.condition('NICsReady')?.status).toBe('True');
    scene.edit({ subnetIDs: ['sub-b'] });
    await scene.look();
    expect(scene.condition('NICsReady')).toMatchObject({ status: 'Unknown' });
  });
});

describe('the node state in status.nodes', () => {
  it('[H6] status.nodes reports NoPorts while no port on the server becomes a NIC', async () => {
    scene.edit({ vmNames: ['00000000-0000-4000-8000-000000000003'] });
    await scene.look();
    const node = scene.status().nodes?.find(({ name }) => name === 'worker-3');
    expect(node).toMatchObject({ interfaces: 0, state: 'NoPorts', reason: 'NoPorts' });
  });

  it("[P2] status.nodes reports NoPorts after the node's last NIC was removed", async () => {
    scene.cloud.ports = scene.cloud.ports.filter(({ id }) => id !== 'p1');
    await scene.look();
    report('worker-1', { state: 'Configured' });
    await scene.look();
    const node = scene.status().nodes?.find(({ name }) => name === 'worker-1');
    expect(node).toMatchObject({ interfaces: 0, state: 'NoPorts' });
  });
});
