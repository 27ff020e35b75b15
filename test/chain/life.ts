import { expect, vi } from 'vitest';
import { nodeConfigs, openstackConfigs } from '../../rig/chain/kinds.ts';
import { namespaces } from '../../src/api/names.ts';
import { applyConfig, attach, detach } from './acts.ts';
import {
  generous,
  nodeConfigObjectOf,
  nodeConfigOf,
  openstackConfigOf,
  untilConfigured,
} from './waits.ts';
import type { Worker, World } from './world.ts';

/** The life of one port: it becomes a NIC, goes, and so does all that was about it. `meanwhile`: while it is a NIC. */
export async function lifeOfAPort(
  world: World,
  worker: Worker,
  meanwhile: (world: World, worker: Worker) => Promise<void> = async () => undefined,
): Promise<void> {
  // Only a port that is no older than its OpenstackConfig becomes a NIC, and times have whole seconds.
  await applyConfig(world, worker);
  const { port_id: portId } = await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0');
  await meanwhile(world, worker);
  await detach(world, worker, portId);
  await vi.waitFor(
    () => expect(nodeConfigOf(world, worker)?.spec.interfaces).toEqual([]),
    generous,
  );
  const ref = { namespace: namespaces.system, name: worker.name };
  await world.management.client.delete(openstackConfigs, ref);
  await vi.waitFor(() => expect(openstackConfigOf(world, worker)).toBeUndefined(), generous);
  await vi.waitFor(() => expect(nodeConfigOf(world, worker)).toBeUndefined(), generous);
}

/** Somebody deletes the node's object in the business cluster, without consent; it comes back. */
export async function deletedByHand(world: World, worker: Worker): Promise<void> {
  const { name } = worker;
  const uidOf = () => nodeConfigObjectOf(world, worker)?.metadata.uid;
  const before = uidOf();
  await world.business.client.delete(nodeConfigs, { namespace: namespaces.system, name });
  await vi.waitFor(() => expect([undefined, before]).not.toContain(uidOf()), generous);
  await untilConfigured(world, worker, 'multinic0');
}
