import { afterEach, describe, expect, it } from 'vitest';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { RemovalFleet } from '../../../test/fixtures/removal-fleet.ts';
import { nodes } from '../../kube/core-resources.ts';

let fleet: RemovalFleet;

afterEach(() => fleet[Symbol.asyncDispose]());

const minuteMs = 60_000;

/** Returns four entries; the first is the fleet's NIC. */
function fourNics(name: string): readonly object[] {
  return [0, 1, 2, 3].map((n) =>
    entry(n, {
      macAddress: fleet.macOf(name).replace(':01:', `:0${n + 1}:`),
      address: `10.0.${n}.${name.codePointAt(0)}`,
      cidr: `10.0.${n}.0/24`,
    }),
  );
}

describe('removals counted in the budget', () => {
  it('three emptied nodes keep all 12 NICs: ten NICs may leave without consent', async () => {
    fleet = await RemovalFleet.start(3);
    for (const name of fleet.names) await fleet.apply(name, fourNics(name));
    await fleet.untilGood();
    for (const name of fleet.names) await fleet.empty(name);
    await fleet.untilHeld();
    const left = fleet.names.map((name) => fleet.fixture.agents.macsOn(name).length);
    expect(left).toEqual([4, 4, 4]);
  });

  it('a removal counts from the start by the latest retry', async () => {
    fleet = await RemovalFleet.start(4);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    let isLate = false;
    const lateRuns = new Set<string>();
    // The first late result may be from a run recorded before; the next run is recorded late.
    agents.answer = (request) => {
      const removed = JSON.stringify(request.mayRemove ?? []);
      if (removed === '[]' || lateRuns.has(removed)) return answer(request);
      if (isLate) lateRuns.add(removed);
      return 'garbage';
    };
    const first = ['a', 'b', 'c'];
    for (const name of first) await fleet.empty(name);
    await fleet.fixture.pass(60);
    fleet.fixture.wallOffsetMs = 57 * minuteMs;
    isLate = true;
    for (let step = 0; step < 300 && fleet.untouched().length > 1; step++) {
      await fleet.fixture.pass(1, 1_000);
    }
    expect(fleet.untouched()).toEqual(['d']);
    // More than an hour after the first attempt, and less after the retry that succeeded.
    fleet.fixture.wallOffsetMs += 5 * minuteMs;
    await fleet.empty('d');
    await fleet.untilHeld(['d']);
    expect(fleet.untouched()).toEqual(['d']);
  });

  it('objects without a Node do not enlarge the budget', async () => {
    // 20 % of 20 nodes are four; only four of the nodes exist.
    fleet = await RemovalFleet.start(20);
    const live = fleet.names.slice(0, 4);
    for (const name of fleet.names.slice(4)) await fleet.fixture.admin.delete(nodes, { name });
    for (const name of fleet.names.slice(4)) {
      await fleet.fixture.untilReady(name, 'False NodeNotFound');
    }
    for (const name of live) await fleet.empty(name);
    await fleet.untilHeld(live);
    expect(fleet.untouched()).toEqual(fleet.names);
  });
});
