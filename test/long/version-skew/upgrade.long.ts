import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { namespaces } from '../../../src/api/names.ts';
import { applyConfig, attach, detach } from '../../fixtures/chain/acts.ts';
import {
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigured,
} from '../../fixtures/chain/waits.ts';
import type { Worker, World } from '../../fixtures/chain/world.ts';
import { stateOf } from '../../host/host-state.ts';
import {
  type ClusterName,
  expectUnchangedBy,
  type Fleet,
  jobsIn,
  openFleet,
  type Version,
} from './fleet.ts';
import { makeOtherVersion, type OtherVersion } from './other-version.ts';

const ref = process.env['MULTINIC_SKEW_REF'] ?? '';
const quietMs = 10_000;

let other: OtherVersion;

beforeAll(async () => {
  other = await makeOtherVersion(ref);
});
afterAll(() => other?.[Symbol.asyncDispose]());

/** Upgrade of each cluster in this order, then the downgrade in the reverse order. */
function stepsOf(order: readonly ClusterName[]): (readonly [Version, ClusterName])[] {
  return [
    ...order.map((cluster) => ['this', cluster] as const),
    ...order.toReversed().map((cluster) => ['other', cluster] as const),
  ];
}

describe.each<[ClusterName, ClusterName]>([
  ['management', 'business'],
  ['business', 'management'],
])('the %s cluster is upgraded first, then the %s cluster, then both go back', (...order) => {
  it.each([
    ['with the CRDs of each version', true],
    ['with the CRDs of this version', false],
  ])(
    '%s no step starts an agent or changes a kernel, and only attached and detached ports change NICs',
    async (_, hasOtherCrds) => {
      const nodes = ['skew-1', 'skew-2'];
      const ofOther = ['operator', 'viola', 'controller', 'agent'] as const;
      await using fleet = await openFleet(other, { nodes, ofOther, hasOtherCrds });
      const [worker, untouched] = fleet.world.workers as [Worker, Worker];
      let detachSecond = await twoNics(fleet, worker);
      const detachUntouched = await twoNics(fleet, untouched);
      for (const [version, cluster] of stepsOf(order)) {
        await expectUnchangedBy(fleet, quietMs, () => fleet.install(version, cluster));
        // Parts in former versions have configured this NIC and written the node's record.
        await detachSecond();
        detachSecond = await secondNic(fleet, worker);
      }
      await detachUntouched();
      expect(holdsIn(fleet.world)).toEqual([]);
    },
  );
});

async function twoNics(fleet: Fleet, worker: Worker): Promise<() => Promise<void>> {
  await applyConfig(fleet.world, worker);
  await attach(fleet.world, worker);
  await untilConfigured(fleet.world, worker, 'multinic0');
  return secondNic(fleet, worker);
}

/** Attaches a second port, with a single agent run. Returns the detach function: after another run the node is as before. */
async function secondNic({ world, kernel }: Fleet, worker: Worker): Promise<() => Promise<void>> {
  const before = await settled(world, worker);
  const jobs = jobsIn(world);
  const events = kernel.lines.length;
  const { port_id: portId } = await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0', 'multinic1');
  expect(jobsIn(world)).toBe(jobs + 1);
  expect(kernel.lines.length).toBeGreaterThan(events);
  return async () => {
    const jobsBefore = jobsIn(world);
    await detach(world, worker, portId);
    await untilConfigured(world, worker, 'multinic0');
    await vi.waitFor(async () => expect(await settled(world, worker)).toEqual(before), generous);
    expect(jobsIn(world)).toBe(jobsBefore + 1);
  };
}

async function settled(world: World, worker: Worker) {
  await untilConfigIsReady(world, worker);
  return { host: await stateOf(worker.host), spec: nodeConfigOf(world, worker)?.spec };
}

/** Returns Events about removals that waited for consent. */
function holdsIn({ management, business }: World): unknown[] {
  const events = [management, business].flatMap(({ server }) =>
    server.objects('events', namespaces.system),
  );
  const reasons: readonly unknown[] = ['RemovalHeld', 'MassDeletion'];
  return events.filter((event) => reasons.includes((event as { reason?: unknown }).reason));
}
