import { afterEach, describe, expect, it } from 'vitest';
import { RemovalFleet } from '../../../test/fixtures/removal-fleet.ts';

let fleet: RemovalFleet;

afterEach(() => fleet[Symbol.asyncDispose]());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Restarts the controller with a limit of one agent, and lets the agent on `a` work until the returned call. */
async function occupyTheSlot(): Promise<() => void> {
  const { agents } = fleet.fixture;
  const { answer } = agents;
  await fleet.fixture.stop();
  fleet.fixture.run({ 'max-in-flight': '1' });
  agents.answer = (request) => (request.nodeName === 'a' ? undefined : answer(request));
  await fleet.apply('a', [fleet.nic('a', { mtu: 1400 })]);
  await fleet.fixture.eventually(
    () => agents.requests.at(-1)?.interfaces[0]?.mtu === 1400,
    () => 'the slot is free',
  );
  return () => {
    agents.answer = answer;
  };
}

/** Waits until each object has an agent run in the queue, with removals. */
async function untilQueued(names: readonly string[]): Promise<void> {
  for (const name of names) {
    await fleet.fixture.until(name, ({ metadata, status }) => {
      const { basis } = status?.applied ?? {};
      const isCurrent = status?.observedGeneration === metadata.generation;
      return isCurrent && basis !== undefined && !basis.used;
    });
  }
}

/** Undoes edits while their agent runs are queued. */
async function undo(names: readonly string[]): Promise<void> {
  for (const name of names) await fleet.apply(name, undefined, { annotations: {} });
  await fleet.fixture.pass(40);
}

async function setReady(status: 'True' | 'False'): Promise<void> {
  for (const name of fleet.names) await fleet.fixture.setReady(name, status);
  await fleet.fixture.pass(20);
}

describe('ended consents', () => {
  it.each(['while the controller runs', 'before a restart of the controller'])(
    'edits count as named acts when their consent ended unused %s',
    async (when) => {
      fleet = await RemovalFleet.start(4);
      await setReady('False');
      for (const name of fleet.names) {
        await fleet.empty(name, await fleet.consentFor(name, { ageMs: 50_000 }));
      }
      await fleet.fixture.pass(40);
      const isRestart = when.includes('restart');
      fleet.fixture.wallOffsetMs = hourMs - (isRestart ? 10 * minuteMs : 40_000);
      if (isRestart) await fleet.restart();
      await fleet.fixture.pass(20);
      if (isRestart) fleet.fixture.wallOffsetMs = hourMs + 5 * minuteMs;
      await setReady('True');
      await fleet.untilHeld();
      expect(fleet.untouched()).toEqual(fleet.names);
    },
  );

  it('an ended consent stays ended when the clock is set back', async () => {
    fleet = await RemovalFleet.start(4);
    const annotations = await Promise.all(fleet.names.map((name) => fleet.consentFor(name)));
    fleet.fixture.wallOffsetMs = 61 * minuteMs;
    for (const [at, name] of fleet.names.entries()) await fleet.empty(name, annotations[at]);
    await fleet.untilHeld();
    fleet.fixture.wallOffsetMs = 40 * minuteMs;
    for (const name of fleet.names) await fleet.annotate(name, { note: 'enqueues the object' });
    await fleet.fixture.pass(80);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it.each(['consented', 'named'])(
    'undoing an edit ends the basis for queued %s removals, and the repeated edit is decided again',
    async (basis) => {
      fleet = await RemovalFleet.start(5);
      const freeTheSlot = await occupyTheSlot();
      const others = fleet.names.slice(1);
      // Named acts on four nodes exceed the budget: queue three, then the fourth.
      const groups = basis === 'named' ? [others.slice(0, 3), others.slice(3)] : [others];
      for (const group of groups) {
        for (const name of group) {
          await fleet.empty(name, basis === 'named' ? {} : await fleet.consentFor(name));
        }
        await untilQueued(group);
        await undo(group);
      }
      expect(fleet.untouched()).toEqual(fleet.names);
      freeTheSlot();
      await fleet.untilGood();
      for (const name of others) await fleet.empty(name, { annotations: {} });
      await fleet.untilHeld(others);
      expect(fleet.untouched()).toEqual(fleet.names);
    },
  );
});

describe('scope for allow-removals', () => {
  it('consent to removals from a former node is none to a later deletion', async () => {
    fleet = await RemovalFleet.start(5);
    const others = fleet.names.slice(1);
    for (const name of others) await fleet.join(`${name}x`);
    const freeTheSlot = await occupyTheSlot();
    for (const name of others) {
      const moved = { instanceId: fleet.idOf(`${name}x`), interfaces: [fleet.nic(name)] };
      await fleet.fixture.apply(name, moved);
    }
    await fleet.untilHeld(others);
    for (const name of others) await fleet.annotate(name, { 'multinic.io/allow-removals': 'yes' });
    await untilQueued(others);
    await undo(others);
    freeTheSlot();
    await fleet.untilGood();
    for (const name of others) await fleet.fixture.delete(name);
    await fleet.untilHeld(others);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('an allow-removals value set during an agent run counts after the run', async () => {
    fleet = await RemovalFleet.start(4, 2);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    const isTry = ({ nodeName, mayRemoveIfGone = [] }: Parameters<typeof answer>[0]) =>
      nodeName === 'a' && mayRemoveIfGone.length > 0;
    agents.answer = (request) => (isTry(request) ? undefined : answer(request));
    for (const name of fleet.names) {
      const lists = { proven: [fleet.secondMacOf(name)], consented: [] };
      await fleet.empty(name, await fleet.consentFor(name, lists));
    }
    await fleet.fixture.until('a', ({ status }) => status?.heldRemovals?.code === 'OverBudget');
    await fleet.fixture.eventually(
      () => agents.requests.some(isTry),
      () => 'no agent tries the NIC with evidence',
    );
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'first' });
    await fleet.fixture.pass(20);
    agents.answer = answer;
    await fleet.fixture.eventually(
      () => agents.macsOn('a').join() === fleet.secondMacOf('a'),
      () => `a has ${agents.macsOn('a').join()}`,
    );
    expect(fleet.untouched(2)).toEqual(fleet.names.slice(1));
  });
});
