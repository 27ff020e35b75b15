import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { registerCluster } from '../../rig/chain/clusters.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { findCondition } from '../../src/api/condition.ts';
import { namespaces } from '../../src/api/names.ts';
import { nodes, secrets } from '../../src/kube/core-resources.ts';
import { applyConfig } from '../fixtures/chain/acts.ts';
import { endure, settle } from '../fixtures/chain/faults.ts';
import { generous, nodeConfigOf, untilConfigReason } from '../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';

let world: World;
let one: Worker;
let two: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1', 'worker-2']);
  [one, two] = world.workers as [Worker, Worker];
  await settle(world);
});

afterAll(() => world?.[Symbol.asyncDispose]());

describe('Viola', () => {
  it('Viola is down: configs report ViolaPostError, and new NICs arrive after a restart', async () => {
    let down = false;
    await endure(world, {
      cause: async () => {
        await world.parts.kill('viola');
        down = true;
      },
      untilReported: async () => {
        await untilConfigReason(world, one, 'ViolaPostError', 'connection refused');
        await untilConfigReason(world, two, 'ViolaPostError', 'connection refused');
      },
      cure: async () => {
        if (down) await world.parts.restart('viola');
        down = false;
      },
      delivered: [],
      reason: 'ViolaPostError',
    });
  });
});

describe('business cluster', () => {
  it('an unknown business cluster is reported, and the other worker gets NICs', async () => {
    await endure(world, {
      cause: () => applyConfig(world, one, { credentials: { k8sProviderID: 'nowhere' } }),
      untilReported: () => untilConfigReason(world, one, 'ViolaPostError', 'nowhere'),
      cure: () => applyConfig(world, one),
      delivered: [two],
      reason: 'ViolaPostError',
    });
  });

  it('a business cluster registered at an address without listener is reported', async () => {
    const [port] = await freePorts(1);
    const kubeconfig = await world.business.server.kubeconfig({
      ...world.business.server.access,
      server: `https://127.0.0.1:${port}`,
    });
    const { client } = world.management;
    await registerCluster(client, 'unreachable', kubeconfig);
    await using after = new AsyncDisposableStack();
    after.defer(() =>
      client.delete(secrets, { name: 'unreachable', namespace: namespaces.registrations }),
    );
    await endure(world, {
      cause: () => applyConfig(world, one, { credentials: { k8sProviderID: 'unreachable' } }),
      untilReported: () => untilConfigReason(world, one, 'ViolaPostError', 'business cluster'),
      cure: () => applyConfig(world, one),
      delivered: [two],
      reason: 'ViolaPostError',
    });
  });

  it('a business cluster down beyond the lease duration is reported by both configs', async () => {
    const { faults } = world.business.server;
    await endure(world, {
      cause: async () => {
        faults.lose({ when: 'before', times: Number.POSITIVE_INFINITY });
        faults.dropWatches();
        await world.parts.logged('controller', 'lease lost');
      },
      untilReported: async () => {
        await untilConfigReason(world, one, 'ViolaPostError', 'business cluster');
        await untilConfigReason(world, two, 'ViolaPostError', 'business cluster');
      },
      cure: () => faults.clear(),
      delivered: [],
      reason: 'ViolaPostError',
    });
  });

  it("two Nodes with the same systemUUID are reported on the node's object", async () => {
    const { client } = world.business;
    const impostor = { name: 'impostor' };
    await endure(world, {
      cause: async () => {
        await client.create(nodes, { metadata: impostor });
        const nodeInfo = { systemUUID: one.serverId.toUpperCase() };
        await client.patchStatus(nodes, impostor, { status: { nodeInfo } });
      },
      untilReported: () =>
        vi.waitFor(() => {
          const { conditions } = nodeConfigOf(world, one)?.status ?? {};
          const ready = findCondition(conditions, 'Ready');
          expect(ready).toMatchObject({ status: 'False', reason: 'DuplicateSystemUUID' });
          expect(ready?.message).toContain('impostor and worker-1');
        }, generous),
      cure: async () => {
        const there = await client.find(nodes, impostor);
        if (there) await client.delete(nodes, impostor);
      },
      delivered: [two],
      reason: 'DuplicateSystemUUID',
    });
  });
});
