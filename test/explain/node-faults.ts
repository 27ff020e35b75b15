import { expect, vi } from 'vitest';
import { resourceQuotas } from '../../rig/chain/kinds.ts';
import { namespaces } from '../../src/api/names.ts';
import { nodes } from '../../src/kube/core-resources.ts';
import { applyConfig, attach, pause } from '../fixtures/chain/acts.ts';
import { accessOptions, multinic } from '../fixtures/chain/multinic.ts';
import {
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigured,
} from '../fixtures/chain/waits.ts';
import { provider, type Worker, type World } from '../fixtures/chain/world.ts';
import { type Plant, workerOf } from './planted.ts';

/** Workers for faults on nodes. */
export const nodeWorkers = ['doubled', 'absent', 'unplugged', 'used', 'drifted', 'addressed'];

export async function prepareNodes(world: World): Promise<void> {
  await Promise.all(world.workers.map((worker) => prepareNode(world, worker)));
}

async function prepareNode(world: World, worker: Worker): Promise<void> {
  await applyConfig(world, worker);
  await untilConfigIsReady(world, worker);
  await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0');
}

interface Nic {
  readonly portId: string;
  /** Without prefix length. */
  readonly address: string;
}

/** Returns the worker's NIC from `prepareNodes`. */
function nicOf(world: World, worker: Worker): Nic {
  const { portId = '', address = '' } = nodeConfigOf(world, worker)?.spec.interfaces?.[0] ?? {};
  return { portId, address };
}

function findingsOf(reason: string, { name }: Worker): string[] {
  return [`${reason} ${provider}/${name}`];
}

const listUuids =
  'kubectl --context business get nodes -o custom-columns=NAME:.metadata.name,UUID:';

export const doubledUuid: Plant = async (world) => {
  const worker = workerOf(world, 'doubled');
  const { client } = world.business;
  const clone = { name: 'clone' };
  await client.create(nodes, { metadata: clone });
  const nodeInfo = { systemUUID: worker.serverId.toUpperCase() };
  await client.patchStatus(nodes, clone, { status: { nodeInfo } });
  return {
    target: nicOf(world, worker).portId,
    worker,
    evidence: ['clone and doubled', worker.serverId],
    findings: findingsOf('DuplicateSystemUUID', worker),
    printed: [listUuids],
    acts: { 1: () => client.delete(nodes, clone) },
  };
};

export const absentNode: Plant = async (world) => {
  const worker = workerOf(world, 'absent');
  await changeNode(world, worker, { nodeInfo: { systemUUID: crypto.randomUUID() } });
  return {
    target: nicOf(world, worker).portId,
    worker,
    evidence: [worker.serverId],
    findings: findingsOf('NodeNotFound', worker),
    printed: [listUuids],
    acts: {
      1: () => restoreNode(world, worker, { nodeInfo: { systemUUID: worker.serverId } }),
    },
  };
};

type NodeChange = Readonly<Record<'nodeInfo' | 'addresses', unknown>>;

/** Changes the Node's status; the kubelet then leaves the Node unchanged. */
async function changeNode(world: World, worker: Worker, status: Partial<NodeChange>) {
  worker.kubelet.tellsNode = false;
  await world.business.client.patchStatus(nodes, { name: worker.name }, { status });
}

async function restoreNode(world: World, worker: Worker, status: Partial<NodeChange>) {
  await changeNode(world, worker, status);
  worker.kubelet.tellsNode = true;
}

export const unpluggedPort: Plant = async (world) => {
  const worker = workerOf(world, 'unplugged');
  const { serverId, hypervisor } = worker;
  hypervisor.hold('plug');
  // Nova deletes a port on detach if Nova created it.
  const { networkId } = world.data;
  const { id: target, mac_address: mac } = await world.tenant.createPort({ networkId });
  await world.tenant.attach(serverId, { portId: target });
  return {
    target,
    worker,
    evidence: [mac, 'ACTIVE', serverId],
    findings: findingsOf('WaitingForNIC', worker),
    printed: [
      `openstack server remove port ${serverId} ${target}`,
      `openstack server add port ${serverId} ${target}`,
    ],
    acts: { 1: () => hypervisor.release('plug') },
  };
};

export const foreignAddress: Plant = async (world) => {
  const worker = workerOf(world, 'used');
  await pause(world, worker);
  const { port_id: target, mac_addr } = await attach(world, worker);
  const link = await vi.waitFor(() => {
    const nics = worker.hypervisor.plugged(worker.serverId);
    return nics.find(({ mac }) => mac === mac_addr)?.nic ?? expect.fail('not plugged');
  }, generous);
  await worker.host.ip('addr', 'add', '10.7.0.1/24', 'dev', link);
  await applyConfig(world, worker);
  return {
    target,
    worker,
    evidence: [link, '10.7.0.1/24', 'multinic-agent-used-'],
    findings: findingsOf('NICInUse', worker),
    printed: [`ip addr del 10.7.0.1/24 dev ${link}`],
  };
};

export const driftedNic: Plant = async (world) => {
  const worker = workerOf(world, 'drifted');
  const { portId, address } = nicOf(world, worker);
  const { host } = worker;
  const rule = (await host.ip('rule', 'show')).split('\n').find((line) => line.includes(address));
  const [, table = ''] = /lookup (\S+)/.exec(rule ?? '') ?? expect.fail('no rule of the NIC');
  await host.ip('rule', 'del', 'from', address, 'lookup', table);
  await host.ip('link', 'set', 'multinic0', 'mtu', '1300');
  // The controller finds drift by a check.
  const { status } = await multinic(world, 'diff', worker.name, ...accessOptions(world));
  expect(status).toBe(4);
  return {
    target: portId,
    worker,
    evidence: ['mtu 1450', `rule add from ${address}`],
    findings: findingsOf('Drifted', worker),
    printed: [
      `kubectl multinic sync --node ${worker.name}`,
      `kubectl multinic diff ${worker.name}`,
    ],
  };
};

export const nicAsNodeAddress: Plant = async (world) => {
  const worker = workerOf(world, 'addressed');
  const { portId, address } = nicOf(world, worker);
  const { client } = world.business;
  const { status } = await client.get(nodes, { name: worker.name });
  const addresses = status?.addresses ?? [];
  await changeNode(world, worker, { addresses: [{ type: 'InternalIP', address }] });
  return {
    target: portId,
    worker,
    evidence: [`InternalIP ${address}`, 'multinic0'],
    findings: findingsOf('NodeAddressIsNic', worker),
    printed: [],
    acts: { 0: () => restoreNode(world, worker, { addresses }) },
  };
};

export const exhaustedQuota: Plant = async (world) => {
  const worker = workerOf(world, 'doubled');
  const { client } = world.business;
  const metadata = { namespace: namespaces.agents, name: 'agents' };
  await client.create(resourceQuotas, { metadata, spec: { hard: { 'count/jobs.batch': '0' } } });
  const { port_id: target } = await attach(world, worker);
  return {
    target,
    worker,
    evidence: ['exceeded quota: agents', 'limited: count/jobs.batch=0'],
    findings: findingsOf('JobRefused', worker),
    printed: ['kubectl --context business -n multinic-agents get resourcequota'],
    acts: { 1: () => client.delete(resourceQuotas, metadata) },
  };
};
