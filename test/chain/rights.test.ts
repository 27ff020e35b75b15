import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { identities } from '../../rig/chain/identities.ts';
import { openstackConfigs } from '../../rig/chain/kinds.ts';
import { namespaces } from '../../src/api/names.ts';
import { claimsOfParts, type PartName, parts } from '../rights/claims.ts';
import { useOf } from '../rights/used.ts';
import { applyConfig, attach, detach } from './acts.ts';
import { generous, nodeConfigOf, openstackConfigOf, untilConfigured } from './seen.ts';
import { openWorld, type Worker, type World } from './world.ts';

let world: World;

/** The life of one port: it becomes a NIC, goes, and so does all that was about it. */
beforeAll(async () => {
  world = await openWorld(['rights-1']);
  const [worker] = world.workers as [Worker];
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
});

afterAll(() => world?.[Symbol.asyncDispose]());

describe.each(parts)('%s, in the life of a port', (part: PartName) => {
  const claims = claimsOfParts()[part];

  it('uses all its rights but those that are used rarely, and asks for nothing else', () => {
    const { server } = ['operator', 'viola'].includes(part) ? world.management : world.business;
    const usual = claims.filter(({ right }) => !right.rare);
    expect(useOf(server.audit, identities[part], usual).unused).toEqual([]);
    const { refused, beyond } = useOf(server.audit, identities[part], claims);
    expect([refused, beyond]).toEqual([[], []]);
  });
});
