import { expect, vi } from 'vitest';
import { openstackConfigs } from '../../rig/chain/kinds.ts';
import { namespaces } from '../../src/api/names.ts';
import { applyConfig, attach, detach } from './acts.ts';
import { generous, nodeConfigOf, openstackConfigOf, untilConfigured } from './seen.ts';
import type { Worker, World } from './world.ts';

/** The life of one port: it becomes a NIC, goes, and so does all that was about it. */
export async function lifeOfAPort(world: World, worker: Worker): Promise<void> {
  const { port_id: portId } = await attach(world, worker);
  await applyConfig(world, worker);
  await untilConfigured(world, worker, 'multinic0');
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
