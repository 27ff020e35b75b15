import { expect, vi } from 'vitest';
import * as z from 'zod';
import { home } from '../../rig/chain/identities.ts';
import { triggerConfigMap } from '../../src/api/trigger-config.ts';
import { configMaps } from '../../src/kube/core-resources.ts';
import { applyConfig, attach, pause } from '../fixtures/chain/acts.ts';
import { generous, untilConfigIsReady, untilConfigured } from '../fixtures/chain/waits.ts';
import type { Worker, World } from '../fixtures/chain/world.ts';
import { keyOf, type Plant, type Planted, workerOf } from './planted.ts';

/** Workers for faults in ports and selection. */
export const portWorkers = ['ports', 'older', 'other', 'sixth', 'eleven', 'paused'];

interface Subnet {
  readonly networkId: string;
  readonly subnetId: string;
}

/** Networks beside the data network. */
interface Networks {
  /** Selected by the OpenstackConfig `ports`. */
  readonly extra: Subnet;
  /** IPv6. */
  readonly sixth: Subnet;
  readonly unselected: Subnet;
}

const networksOf = new WeakMap<World, Networks>();

function networks(world: World): Networks {
  const found = networksOf.get(world);
  if (!found) throw new Error('preparePorts makes the networks of the world');
  return found;
}

/** Makes networks, and an OpenstackConfig for each worker except `older` and `other`. */
export async function preparePorts(world: World): Promise<void> {
  const made = {
    extra: await makeSubnet(world, 'extra', '10.0.1.0/24'),
    sixth: await makeSubnet(world, 'sixth', 'fd30::/64'),
    unselected: await makeSubnet(world, 'unselected', '10.0.2.0/24'),
  };
  networksOf.set(world, made);
  const ports = workerOf(world, 'ports');
  await applyConfig(world, ports, { subnetIDs: [world.data.subnetId, made.extra.subnetId] });
  const rest = ['sixth', 'eleven', 'paused'].map((name) => workerOf(world, name));
  for (const worker of rest) await applyConfig(world, worker);
  for (const worker of [ports, ...rest]) await untilConfigIsReady(world, worker);
}

async function makeSubnet({ tenant }: World, name: string, cidr: string): Promise<Subnet> {
  const { id: networkId } = await tenant.createNetwork({ name });
  const { id: subnetId } = await tenant.createSubnet({ networkId, cidr, gatewayIp: null });
  return { networkId, subnetId };
}

/** Attaches a port to `ports`, optionally changed in the same step: the operator never observes it unchanged. */
function attachToPorts(
  world: World,
  networkId: string,
  change: (portId: string) => unknown = () => undefined,
): Pick<Planted, 'target' | 'worker'> {
  const worker = workerOf(world, 'ports');
  const { portId } = world.cloud.controls.attach({ serverId: worker.serverId, networkId });
  change(portId);
  return { target: portId, worker };
}

const patch = 'kubectl -n multinic-system patch osc';

export const olderPort: Plant = async (world) => {
  const worker = workerOf(world, 'older');
  const { port_id: target } = await attach(world, worker);
  const attached = Math.floor(Date.now() / 1_000);
  // Timestamps in Neutron and Kubernetes have whole seconds.
  await vi.waitFor(
    () => expect(Math.floor(Date.now() / 1_000)).toBeGreaterThan(attached),
    generous,
  );
  await applyConfig(world, worker);
  return {
    target,
    worker,
    evidence: ['created at', 'spec.settings.portBaseline is CreatedAfterConfig'],
    findings: [`PortTooOld ${keyOf(worker)}`],
    printed: [
      `${patch} older --type merge`,
      'kubectl multinic plan multinic-system/older --set portBaseline=All',
    ],
  };
};

export const unselectedSubnet: Plant = async (world) => {
  const { networkId, subnetId } = networks(world).unselected;
  return {
    ...attachToPorts(world, networkId),
    evidence: [subnetId, world.data.subnetId],
    findings: [],
    printed: [`${patch} ports --type json`],
    information: '2 ports of selected servers are in subnets that are not selected',
  };
};

export const unselectedServer: Plant = async (world) => {
  const worker = workerOf(world, 'other');
  const { serverId } = worker;
  const { networkId } = networks(world).extra;
  const { portId } = world.cloud.controls.attach({ serverId, networkId });
  return {
    target: portId,
    worker,
    evidence: [serverId, 'multinic-system/ports selects subnet'],
    findings: [],
    printed: [`${patch} ports --type json`],
  };
};

export const portInError: Plant = async (world) => {
  const { controls } = world.cloud;
  const setStatus = (status: string) => (portId: string) =>
    controls.setPortStatus({ portId, status });
  const port = attachToPorts(world, world.data.networkId, setStatus('ERROR'));
  return {
    ...port,
    evidence: ['ERROR', 'ACTIVE, DOWN'],
    findings: [`PortStatus ${keyOf(port.worker)}`],
    printed: [`openstack port show ${port.target}`],
    acts: { 1: () => setStatus('ACTIVE')(port.target) },
  };
};

export const unwantedFamily: Plant = async (world) => {
  const worker = workerOf(world, 'sixth');
  const { networkId, subnetId } = networks(world).sixth;
  const settings = { addressFamilies: ['IPv4' as const] };
  await applyConfig(world, worker, { subnetIDs: [world.data.subnetId, subnetId], settings });
  const { port_id: target } = await world.tenant.attach(worker.serverId, { networkId });
  return {
    target,
    worker,
    evidence: ['fd30:', 'IPv4'],
    // The OpenstackConfig names the subnet, and its address families exclude the subnet.
    findings: [`ConfigError ${keyOf(worker)}`, `FamilyNotWanted ${keyOf(worker)}`],
    printed: [`${patch} sixth --type merge`],
  };
};

export const portWithoutAddress: Plant = async (world) => {
  const { controls } = world.cloud;
  const empty = (portId: string) => controls.readdressPort({ portId, fixedIps: [] });
  const port = attachToPorts(world, world.data.networkId, empty);
  return {
    ...port,
    evidence: ['no address'],
    findings: [`PortWithoutAddress ${keyOf(port.worker)}`],
    printed: [`openstack port set --fixed-ip subnet=${world.data.subnetId} ${port.target}`],
  };
};

export const eleventhPort: Plant = async (world) => {
  const worker = workerOf(world, 'eleven');
  const { serverId } = worker;
  const { networkId } = world.data;
  const { controls } = world.cloud;
  const names = Array.from({ length: 10 }, (_, index) => `multinic${index}`);
  for (const _ of names) controls.attach({ serverId, networkId });
  await untilConfigured(world, worker, ...names);
  // Nova deletes a port on detach if Nova created it; a user's own port stays.
  const { id: target } = await world.tenant.createPort({ networkId });
  await world.tenant.attach(serverId, { portId: target });
  return {
    target,
    worker,
    evidence: ['11', 'node eleven has multinic0 10.0.0.', 'multinic9'],
    findings: [`InterfaceLimitExceeded ${keyOf(worker)}`],
    printed: [`openstack server remove port ${serverId} ${target}`],
    afterwards: 'PortNotAttached',
  };
};

export const pausedConfig: Plant = async (world) => {
  const worker = workerOf(world, 'paused');
  await pause(world, worker);
  const { port_id: target } = await attach(world, worker);
  return {
    target,
    worker,
    evidence: ['multinic.io/paused', '"true"'],
    findings: [`Paused ${keyOf(worker)}`],
    printed: ['kubectl -n multinic-system annotate osc paused multinic.io/paused-'],
  };
};

/** Sets trigger mode scheduled for the whole operator: the next sync is on 1 January. */
export const scheduledSync: Plant = async (world) => {
  const worker = workerOf(world, 'paused');
  const { client } = world.management;
  const { name, key } = triggerConfigMap;
  const metadata = { namespace: home, name };
  const data = { [key]: 'mode: scheduled\nschedule: "0 0 1 1 *"\n' };
  await client.create(configMaps, { metadata, data });
  await untilNextSyncIsFar(world, worker);
  const { port_id: target } = await attach(world, worker);
  return {
    target,
    worker,
    evidence: ['trigger mode scheduled', 'last sync', '-01-01T00:00:00'],
    findings: [],
    printed: ['kubectl multinic sync multinic-system/paused'],
    acts: { 1: () => client.delete(configMaps, metadata) },
  };
};

const dueTimes = z.object({
  items: z.array(
    z.object({
      configs: z.array(z.object({ config: z.string(), nextSyncAt: z.string().optional() })),
    }),
  ),
});

/** Waits until the worker's OpenstackConfig is due on 1 January. */
async function untilNextSyncIsFar({ inventoryUrl }: World, worker: Worker): Promise<void> {
  await vi.waitFor(async () => {
    const answer = await fetch(`${inventoryUrl}/v1/ports?serverId=${worker.serverId}`);
    const [port] = dueTimes.parse(await answer.json()).items;
    const config = port?.configs.find((each) => each.config === keyOf(worker));
    expect(config?.nextSyncAt).toContain('-01-01T00:00:00');
  }, generous);
}
