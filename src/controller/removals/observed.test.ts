import { expect, it } from 'vitest';
import { RemovalFleet } from '../../../test/fixtures/removal-fleet.ts';

it('mode Observe keeps the hold on removals for nodes leaving the mode one by one', async () => {
  await using fleet = await RemovalFleet.start(6);
  const write = (name: string, change: object) =>
    fleet.fixture.apply(name, { instanceId: fleet.idOf(name), interfaces: [], ...change });
  for (const name of fleet.names) await fleet.empty(name);
  await fleet.untilHeld();
  for (const name of fleet.names) await write(name, { mode: 'Observe' });
  for (const name of fleet.names) {
    const { status } = await fleet.fixture.untilReady(name, 'Unknown Observed');
    expect(status?.heldRemovals).toMatchObject({ code: 'OverBudget', macs: [fleet.macOf(name)] });
    expect(status?.interfaceStatuses).toMatchObject([{ status: 'Observed' }]);
  }
  await fleet.fixture.pass(60);
  for (const name of fleet.names) {
    await write(name, {});
    await fleet.untilHeld([name]);
  }
  await fleet.fixture.pass(60);
  expect(fleet.untouched()).toEqual(fleet.names);
});
