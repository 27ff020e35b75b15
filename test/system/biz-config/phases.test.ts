import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bizConfigsIn } from '../../../src/biz-config/biz-config.ts';
import { nodeConfigs } from '../../../src/controller/objects/stores.ts';
import { jobs } from '../../../src/kube/core-resources.ts';
import { NicMonitor } from '../../fixtures/nic-monitor.ts';
import { type BizConfigCluster, openWorld, provider } from './world.ts';

// The three phases from an object per cluster to an object per node, on real nodes with real agents.
const namespace = 'multinic-system';
const name = 'production-cluster-network';
const bizConfigs = bizConfigsIn('multinic.io');

let world: BizConfigCluster;
let monitor: NicMonitor;
let jobsBefore: readonly string[];

/** NIC `n` on worker `w`. */
function nic(w: number, n: number) {
  const address = `10.${n}.0.${w + 10}`;
  const macAddress = `02:00:00:00:0${w + 1}:0${n}`;
  return {
    portId: `port-00${n}-worker-0${w + 1}`,
    macAddress,
    address,
    cidr: `${address}/24`,
    mtu: 1500,
  };
}

function source(...numbers: readonly (readonly number[])[]) {
  const nodeConfigList = world.workers.map(({ node, instanceId }, w) => ({
    attachedNodeId: instanceId,
    attachedNodeName: node.name,
    interfaces: (numbers[w] ?? []).map((n) => nic(w, n)),
  }));
  return {
    apiVersion: 'multinic.io/v1',
    kind: 'MultiNicBizConfig',
    metadata: { name, namespace },
    spec: { providerId: provider, specHash: 'a1b2c3d4e5f6789a', nodeConfigs: nodeConfigList },
  };
}

async function plug(w: number, n: number): Promise<void> {
  const { node } = world.workers[w] ?? world.workers[0];
  await node.plug(`ens${w}${n}`, nic(w, n).macAddress);
}

/** Names and addresses of managed NICs on both nodes, from the kernel. */
async function nics(): Promise<string[][]> {
  return Promise.all(
    world.workers.map(async ({ node }) => {
      const text = await node.sh(['ip', '-br', '-4', 'addr']);
      return [...text.matchAll(/^(multinic\d)\S*\s+UP\s+(\S+)/gm)].map(
        ([, link, at]) => `${link} ${at}`,
      );
    }),
  );
}

async function labelled(): Promise<string[]> {
  const labelSelector = `multinic.io/biz-config=${name}`;
  const { items } = await world.client.list(nodeConfigs, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.name);
}

async function jobNames(): Promise<string[]> {
  const { items } = await world.client.list(jobs, { namespace: 'multinic-agents' });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

const statusOf = async () => (await world.client.find(bizConfigs, { namespace, name }))?.status;

beforeAll(async () => {
  world = await openWorld();
  for (const [w, n] of [
    [0, 1],
    [0, 2],
    [1, 1],
  ] as const)
    await plug(w, n);
  monitor = new NicMonitor(world.workers.map(({ node }) => ({ name: node.name, host: node })));
});

afterAll(async () => {
  monitor?.[Symbol.dispose]();
  await world?.[Symbol.asyncDispose]();
});

describe('migration of a MultiNicBizConfig with two nodes', () => {
  it('becomes Configured on real agents', async () => {
    await world.apply(source([1, 2], [1]));
    await expect
      .poll(async () => (await statusOf())?.summary)
      .toEqual({
        totalNodes: 2,
        configuredNodes: 2,
        failedNodes: 0,
        pendingNodes: 0,
      });
    expect(await nics()).toEqual([
      ['multinic0 10.1.0.10/24', 'multinic1 10.2.0.10/24'],
      ['multinic0 10.1.0.11/24'],
    ]);
    jobsBefore = await jobNames();
    expect(jobsBefore).toHaveLength(2);
  });

  it('apply starts no agent, and back restores the labels', async () => {
    expect((await labelled()).toSorted()).toEqual(['k8s-worker-01', 'k8s-worker-02']);
    // A port is attached meanwhile.
    await Promise.all([migrate('apply'), plug(1, 2)]);
    expect(await labelled()).toEqual([]);
    await migrate('back');
    expect((await labelled()).toSorted()).toEqual(['k8s-worker-01', 'k8s-worker-02']);
    await migrate('apply');
    await migrate('verify');
    expect(await labelled()).toEqual([]);
    expect(await jobNames()).toEqual(jobsBefore);
  });

  it('the MultiNicBizConfig is inactive: Viola posts the port attached meanwhile', async () => {
    const [, second] = world.workers;
    const { node, instanceId } = second;
    const interfaces = [nic(1, 1), nic(1, 2)].map((entry, id) => ({ id, ...entry }));
    await world.post([{ nodeName: node.name, instanceId, interfaces }]);
    await expect.poll(nics).toEqual([
      ['multinic0 10.1.0.10/24', 'multinic1 10.2.0.10/24'],
      ['multinic0 10.1.0.11/24', 'multinic1 10.2.0.11/24'],
    ]);
    expect(await jobNames()).toHaveLength(jobsBefore.length + 1);
  });

  it('deleting the MultiNicBizConfig leaves every NIC', async () => {
    await world.client.delete(bizConfigs, { namespace, name });
    await expect.poll(statusOf).toBeUndefined();
    const { items } = await world.client.list(nodeConfigs, { namespace });
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'k8s-worker-01',
      'k8s-worker-02',
    ]);
    expect(items.every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
    expect(await nics()).toEqual([
      ['multinic0 10.1.0.10/24', 'multinic1 10.2.0.10/24'],
      ['multinic0 10.1.0.11/24', 'multinic1 10.2.0.11/24'],
    ]);
    expect([...monitor.downs, ...monitor.taken]).toEqual([]);
  });
});

function migrate(verb: string) {
  const confirmation = verb === 'verify' ? [] : ['--yes'];
  return world.multinic('migrate', 'biz-config', verb, name, '-n', namespace, ...confirmation);
}
