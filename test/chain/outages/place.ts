import { expect, vi } from 'vitest';
import type { FaultProxy } from '../../../rig/fault-proxy/fault-proxy.ts';
import type { WirePort } from '../../../rig/openstack/tenant.ts';
import { findCondition } from '../../../src/api/condition.ts';
import { annotations } from '../../../src/api/names.ts';
import type { EndState } from '../../fixtures/end-state.ts';
import { applyConfig, attach, type Edit } from '../acts.ts';
import {
  endStateOf,
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigured,
} from '../waits.ts';
import type { Worker, World } from '../world.ts';

/** A worker with an OpenstackConfig of its own, and the proxies before what is going to be out for it alone. */
export interface Place {
  /** The cloud and the business cluster of the worker, and what all of them share. */
  readonly world: World;
  readonly worker: Worker;
  readonly edit: Edit;
  readonly proxies: readonly FaultProxy[];
}

/** A place with one NIC that stays, a port that comes and goes, and what a clean run of that comes to. */
export interface Settled extends Place {
  readonly port: WirePort;
  readonly clean: { readonly one: EndState; readonly two: EndState };
}

/** Gives the worker its first NIC, and lets the port come and go once: the clean run. */
export async function settle(place: Place): Promise<Settled> {
  const { world, worker, edit } = place;
  await applyConfig(world, worker, edit);
  await attach(world, worker);
  await untilReady(place, 'multinic0');
  const port = await world.tenant.createPort({ networkId: world.data.networkId });
  await plug(place, port);
  await untilReady(place, 'multinic0', 'multinic1');
  const two = await endStateOf(world, worker);
  await unplug(place, port);
  await untilReady(place, 'multinic0');
  const one = await endStateOf(world, worker);
  return { ...place, port, clean: { one, two } };
}

export async function plug({ world, worker }: Place, port: WirePort): Promise<void> {
  await world.tenant.attach(worker.serverId, { portId: port.id });
}

/** Takes the port off the server and its NIC off the host. */
export async function unplug(place: Place, port: WirePort): Promise<void> {
  const { world, worker } = place;
  await world.tenant.detach(worker.serverId, port.id);
  await vi.waitFor(async () => {
    await consentIfHeld(place);
    const { interfaceStatuses = [] } = nodeConfigOf(world, worker)?.status ?? {};
    if (interfaceStatuses.some(({ portId }) => portId === port.id)) {
      throw new Error(`the NIC of port ${port.id} is still on ${worker.name}`);
    }
  }, generous);
}

/** Does what people do when more than three nodes of the cluster lose a NIC within the same minute. */
async function consentIfHeld({ world, worker, edit }: Place): Promise<void> {
  const ready = findCondition(nodeConfigOf(world, worker)?.status?.conditions, 'Ready');
  if (ready?.reason !== 'RemovalHeld') return;
  await applyConfig(world, worker, edit, { [annotations.allowRemovals]: new Date().toISOString() });
}

async function untilReady({ world, worker }: Place, ...names: readonly string[]): Promise<void> {
  await untilConfigured(world, worker, ...names);
  await untilConfigIsReady(world, worker);
  // A database that is slow on a busy machine is left alone for half a minute.
  await vi.waitFor(async () => {
    const { inventory } = await endStateOf(world, worker);
    const known = inventory.flatMap(({ interfaces }) => interfaces.map(({ name }) => name));
    expect(new Set(known)).toEqual(new Set(names));
  }, generous);
}
