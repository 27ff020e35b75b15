import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findCondition } from '../../../src/api/condition.ts';
import { applyConfig, attach, detach } from '../../fixtures/chain/acts.ts';
import { lifeOfAPort } from '../../fixtures/chain/life.ts';
import {
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigured,
} from '../../fixtures/chain/waits.ts';
import type { Worker } from '../../fixtures/chain/world.ts';
import { stateOf } from '../../host/host-state.ts';
import { expectUnchangedBy, type Fleet, type FleetPart, jobsIn, openFleet } from './fleet.ts';
import { makeOtherVersion, type OtherVersion } from './other-version.ts';

const ref = process.env['MULTINIC_SKEW_REF'] ?? '';
const nodes = ['skew-1'];
const parts: readonly FleetPart[] = ['operator', 'viola', 'controller', 'agent'];
const quietMs = 3_000;

let other: OtherVersion;

beforeAll(async () => {
  other = await makeOtherVersion(ref);
});
afterAll(() => other?.[Symbol.asyncDispose]());

/** Returns every set of parts, except with an older agent beside a newer controller. */
function mixes(): FleetPart[][] {
  let sets: FleetPart[][] = [[]];
  for (const part of parts) sets = [...sets, ...sets.map((set) => [...set, part])];
  return sets.filter((set) => !set.includes('agent') || set.includes('controller'));
}

describe('a port becomes a NIC and goes again', () => {
  it.each(mixes().map((mix) => [mix.join(', ') || 'no part', mix] as const))(
    'with %s of the other version',
    async (_, ofOther) => {
      await using fleet = await openFleet(other, { nodes, ofOther });
      await lifeOfAPort(fleet.world, fleet.world.workers[0] as Worker);
    },
  );
});

/** Opens a fleet in the other version with a NIC on the node. */
async function fleetWithNic(): Promise<Fleet> {
  const fleet = await openFleet(other, { nodes, ofOther: parts });
  const { world } = fleet;
  const [worker] = world.workers as [Worker];
  await applyConfig(world, worker);
  await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0');
  await untilConfigIsReady(world, worker);
  return fleet;
}

it('an older agent adds NICs for a newer controller, and removals wait for the upgrade of the agent', async () => {
  await using fleet = await fleetWithNic();
  const { world } = fleet;
  const [worker] = world.workers as [Worker];
  await expectUnchangedBy(fleet, quietMs, () => fleet.change('this', ['controller']));
  const { port_id: portId } = await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0', 'multinic1');
  const { files } = await stateOf(worker.host);
  await detach(world, worker, portId);
  // Up to protocol 3 an agent removes every NIC missing in the request, so the controller sends no removals.
  if (other.protocol < 4) {
    await vi.waitFor(() => {
      const { conditions } = nodeConfigOf(world, worker)?.status ?? {};
      expect(findCondition(conditions, 'Ready')).toMatchObject({ reason: 'InvalidRequest' });
    }, generous);
    expect(await stateOf(worker.host)).toMatchObject({ files });
  }
  await fleet.change('this', ['agent']);
  await attach(world, worker);
  // The operator does not reuse the name of a NIC that is still on the node.
  const name = other.protocol < 4 ? 'multinic2' : 'multinic1';
  await untilConfigured(world, worker, 'multinic0', name);
  const known = nodeConfigOf(world, worker)?.status.knownInterfaces ?? [];
  expect(known.map(({ id }) => `multinic${id}`)).toEqual(['multinic0', name]);
});

/** Orders in which parts are upgraded; a chart has controller and agent. */
const orders: FleetPart[][][] = [
  [['operator'], ['viola'], ['controller', 'agent']],
  [['operator'], ['controller', 'agent'], ['viola']],
  [['viola'], ['operator'], ['controller', 'agent']],
  [['viola'], ['controller', 'agent'], ['operator']],
  [['controller', 'agent'], ['operator'], ['viola']],
  [['controller', 'agent'], ['viola'], ['operator']],
];

it('upgrades and downgrades of the parts, in every order, start no agent', async () => {
  await using fleet = await fleetWithNic();
  const { world } = fleet;
  const [worker] = world.workers as [Worker];
  for (const order of orders) {
    for (const step of order) {
      await expectUnchangedBy(fleet, quietMs, () => fleet.change('this', step));
    }
    for (const step of order.toReversed()) {
      await expectUnchangedBy(fleet, quietMs, () => fleet.change('other', step));
    }
    const jobs = jobsIn(world);
    const { port_id: portId } = await attach(world, worker);
    await untilConfigured(world, worker, 'multinic0', 'multinic1');
    await detach(world, worker, portId);
    await untilConfigured(world, worker, 'multinic0');
    await untilConfigIsReady(world, worker);
    expect(jobsIn(world)).toBe(jobs + 2);
  }
});
