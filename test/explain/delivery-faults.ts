import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { namespaces } from '../../src/api/names.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import { applyConfig, attach } from '../fixtures/chain/acts.ts';
import { settle } from '../fixtures/chain/faults.ts';
import { nodeConfigOf, untilConfigIsReady } from '../fixtures/chain/waits.ts';
import { provider, type World } from '../fixtures/chain/world.ts';
import { keyOf, type Plant, workerOf } from './planted.ts';

/** Workers for faults in cloud and business cluster. */
export const deliveryWorkers = ['one', 'two', 'new'];

export async function prepareDelivery(world: World): Promise<void> {
  await settle(world);
  for (const name of ['one', 'two']) await untilConfigIsReady(world, workerOf(world, name));
}

export const wrongKey: Plant = async (world) => {
  const worker = workerOf(world, 'one');
  const { client } = world.management;
  const ref = { name: 'encrypt-key', namespace: namespaces.system };
  await client.create(secrets, { metadata: ref, ...holding('another 16B key!') });
  const secret = { contrabassEncryptKeySecretRef: { name: ref.name, key: 'key' } };
  await applyConfig(world, worker, { secrets: secret });
  const { port_id: target } = await attach(world, worker);
  return {
    target,
    worker,
    evidence: ['encrypt key', 'next try'],
    findings: [`ContrabassError ${keyOf(worker)}`],
    printed: ['kubectl multinic sync multinic-system/one'],
    acts: { 0: () => client.patch(secrets, ref, holding(world.cloud.encryptKey)) },
  };
};

function holding(key: string) {
  return { data: { key: Buffer.from(key).toString('base64') } };
}

export const unregisteredCluster: Plant = async (world) => {
  const worker = workerOf(world, 'new');
  const id = 'unregistered';
  await applyConfig(world, worker, { credentials: { k8sProviderID: id } });
  const { port_id: target } = await attach(world, worker);
  const path = join(world.directory, `${id}.kubeconfig`);
  await writeFile(path, await kubeconfigForPods(world), { mode: 0o600 });
  const register = `kubectl multinic register-cluster ${id} --business-kubeconfig ${id}.kubeconfig`;
  return {
    target,
    worker,
    evidence: [id],
    findings: [`ViolaPostError ${id}`],
    printed: [register, `${register} --dry-run`],
  };
};

/**
 * Returns an administrator's kubeconfig for the business cluster. `register-cluster` refuses loopback, because no Pod
 * reaches loopback; Linux connects 0.0.0.0 to loopback as well.
 */
async function kubeconfigForPods({ business: { server } }: World): Promise<string> {
  const url = server.url.replace('127.0.0.1', '0.0.0.0');
  const text = await server.kubeconfig({ ...server.access, server: url });
  return text.replace(`server: ${url}`, `$&\n      tls-server-name: 127.0.0.1`);
}

/** Returns the first NIC's port. */
function portOf(world: World, name: string): string {
  return nodeConfigOf(world, workerOf(world, name))?.spec.interfaces?.[0]?.portId ?? '';
}

export const truncatedPorts: Plant = async (world) => {
  const { controls } = world.cloud;
  controls.fail({ service: 'neutron', kind: 'truncate', path: '/v2.0/ports' });
  const configs = deliveryWorkers.map((name) => keyOf(workerOf(world, name)));
  return {
    target: portOf(world, 'two'),
    worker: workerOf(world, 'two'),
    evidence: ['GET', '/v2.0/ports', 'before the answer was complete'],
    findings: configs.map((config) => `NeutronPortError ${config}`),
    printed: [],
    acts: { 0: () => controls.heal({}) },
  };
};

/** Registers the business cluster at an address without listener. */
export const unreachableCluster: Plant = async (world) => {
  const { client } = world.management;
  const { server } = world.business;
  const ref = { name: provider, namespace: namespaces.registrations };
  const { data } = await client.get(secrets, ref);
  const [port] = await freePorts(1);
  const wrong = { ...server.access, server: `https://127.0.0.1:${port}` };
  const kubeconfig = Buffer.from(await server.kubeconfig(wrong)).toString('base64');
  await client.patch(secrets, ref, { data: { kubeconfig } });
  return {
    target: portOf(world, 'two'),
    worker: workerOf(world, 'two'),
    evidence: [
      `Viola does not reach business cluster ${provider}`,
      `127.0.0.1:${port}`,
      'checked at',
      'next try',
    ],
    findings: [`ViolaPostError ${provider}`],
    printed: [],
    acts: { 0: () => client.patch(secrets, ref, { data }) },
  };
};
