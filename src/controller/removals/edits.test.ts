import { afterEach, describe, expect, it } from 'vitest';
import {
  blocked,
  type ConsentChange,
  good,
  RemovalFleet,
} from '../../../test/fixtures/removal-fleet.ts';
import { specHash } from '../../api/spec-hash.ts';

let fleet: RemovalFleet;

afterEach(() => fleet[Symbol.asyncDispose]());

const minuteMs = 60_000;

/** `text`: the bare hash of an earlier Viola. */
type AnnotationChange = ConsentChange & { readonly text?: boolean };

/** Answer of an agent that supports protocols 1 to 3. */
const tooNew = {
  outcome: 'refused',
  refusal: { reason: 'InvalidRequest', message: 'this agent supports protocols 1 to 3' },
} as const;

describe('[C16] removals by edits', () => {
  it('emptying most specs at once removes no NIC, and consent on one object releases only this object', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names) await fleet.empty(name);
    await fleet.untilHeld();
    await fleet.fixture.pass(700);
    expect(fleet.untouched()).toEqual(fleet.names);
    expect(await fleet.messageOn('a')).toMatch(/^OverBudget: .*6 nodes of 6 .*allow-removals/);
    await fleet.annotate('a', { 'multinic.io/allow-removals': '1' });
    await fleet.fixture.untilReady('a', good);
    expect(fleet.untouched()).toEqual(fleet.names.slice(1));
  });

  it('an edit above the budget configures the other NICs, and the held NIC keeps its status', async () => {
    fleet = await RemovalFleet.start(6, 2);
    const changed = (name: string) => [fleet.nic(name, { address: '10.0.0.99' })];
    for (const name of fleet.names) await fleet.apply(name, changed(name));
    await fleet.untilHeld();
    expect(fleet.untouched(2)).toEqual(fleet.names);
    const { status } = await fleet.fixture.get('a');
    expect(status?.interfaceStatuses).toMatchObject([
      { name: 'multinic0', status: 'Configured', address: '10.0.0.99' },
      { name: 'multinic1', status: 'Configured', reason: 'RemovalHeld' },
    ]);
    const both = (name: string) => [...changed(name), fleet.second(name)];
    for (const name of fleet.names) await fleet.apply(name, both(name));
    await fleet.untilGood();
    expect(fleet.untouched(2)).toEqual(fleet.names);
  });

  it('[N15] NodeReady reports an unready node in a single write while Ready reports the held removal', async () => {
    fleet = await RemovalFleet.start(6, 2);
    for (const name of fleet.names) await fleet.apply(name);
    await fleet.untilHeld();
    await fleet.fixture.setReady('a', 'Unknown');
    await fleet.fixture.pass(32, 10_000);
    const { status, metadata } = await fleet.fixture.get('a');
    expect(status?.conditions).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ type: 'Ready', status: 'False', reason: 'RemovalHeld' }),
        expect.objectContaining({ type: 'NodeReady', status: 'Unknown', reason: 'NodeNotReady' }),
      ]),
    );
    await fleet.restart();
    await fleet.fixture.pass(30, 10_000);
    expect((await fleet.fixture.get('a')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    await fleet.fixture.setReady('a', 'True');
    await fleet.fixture.pass(10, 1_000);
    const after = await fleet.fixture.get('a');
    expect(after.status?.conditions?.map(({ type }) => type)).not.toContain('NodeReady');
    expect(await fleet.fixture.ready('a')).toBe(blocked);
  });

  it('edits on three of six nodes proceed, a fourth within the hour is held, and after the hour another proceeds', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of ['a', 'b', 'c']) await fleet.empty(name);
    await fleet.untilGood(['a', 'b', 'c']);
    expect(fleet.untouched()).toEqual(['d', 'e', 'f']);
    fleet.fixture.wallOffsetMs = 59 * minuteMs;
    await fleet.empty('d');
    await fleet.untilHeld(['d']);
    fleet.fixture.wallOffsetMs = 90 * minuteMs;
    await fleet.fixture.pass(700);
    expect(await fleet.fixture.ready('d')).toBe(blocked);
    await fleet.apply('d');
    await fleet.untilGood(['d']);
    await fleet.empty('e');
    await fleet.untilGood(['e']);
    expect(fleet.untouched()).toEqual(['d', 'f']);
  });

  it('a held removal stays held after an unrelated edit, even with budget left', async () => {
    fleet = await RemovalFleet.start(4, 2);
    const first = ['a', 'b', 'c'];
    for (const name of first) await fleet.apply(name);
    await fleet.untilGood(first);
    await fleet.apply('d');
    await fleet.untilHeld(['d']);
    fleet.fixture.wallOffsetMs = 90 * minuteMs;
    await fleet.apply('d', [fleet.nic('d', { mtu: 1400 })]);
    await fleet.untilHeld(['d']);
    await fleet.fixture.pass(60);
    expect(fleet.untouched(2)).toEqual(['d']);
  });

  it('a held NIC with later evidence, or a detached one, does not end the hold of the others', async () => {
    fleet = await RemovalFleet.start(5, 2);
    const first = ['a', 'b', 'c'];
    for (const name of first) await fleet.apply(name);
    await fleet.untilGood(first);
    await fleet.empty('d');
    await fleet.untilHeld(['d']);
    await fleet.empty('e');
    await fleet.untilHeld(['e']);
    fleet.fixture.wallOffsetMs = 90 * minuteMs;
    const proven = [fleet.macOf('d')];
    await fleet.empty('d', await fleet.consentFor('d', { proven, consented: [] }));
    const { agents } = fleet.fixture;
    agents.unplugged.add(fleet.macOf('e'));
    await fleet.restart();
    await fleet.fixture.pass(120);
    expect(agents.macsOn('d')).toContain(fleet.secondMacOf('d'));
    expect(agents.macsOn('e')).toContain(fleet.secondMacOf('e'));
    await fleet.untilHeld(['d', 'e']);
  });

  it('[N4] edits one after another are counted across restarts of the controller', async () => {
    fleet = await RemovalFleet.start(8);
    for (const name of fleet.names) {
      await fleet.empty(name);
      await fleet.fixture.pass(60);
      await fleet.restart();
    }
    await fleet.fixture.pass(60);
    expect(fleet.untouched()).toEqual(fleet.names.slice(3));
  });

  it('removals of an hour count after their objects moved to other nodes', async () => {
    fleet = await RemovalFleet.start(6);
    const moved = ['a', 'b', 'c'];
    for (const name of moved) await fleet.empty(name);
    await fleet.untilGood(moved);
    for (const [at, name] of moved.entries()) {
      const instanceId = fleet.idOf(moved[(at + 1) % moved.length] ?? '');
      await fleet.fixture.apply(name, { instanceId, interfaces: [] });
    }
    await fleet.untilGood(moved);
    await fleet.empty('d');
    await fleet.untilHeld(['d']);
  });

  it('NICs of one object removed on two nodes count as two nodes', async () => {
    fleet = await RemovalFleet.start(5);
    await fleet.join('z');
    await fleet.empty('a');
    await fleet.untilGood(['a']);
    for (const interfaces of [[fleet.nic('a')], []]) {
      await fleet.fixture.apply('a', { instanceId: fleet.idOf('z'), interfaces });
      await fleet.untilGood(['a']);
    }
    await fleet.empty('b');
    await fleet.untilGood(['b']);
    await fleet.empty('c');
    await fleet.untilHeld(['c']);
    expect(await fleet.messageOn('c')).toContain('4 nodes of 6');
  });

  it('a removal that was queued before the controller was killed starts after the restart', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names) await fleet.empty(name);
    await fleet.untilHeld();
    fleet.fixture.onEffect = (effect, phase) => {
      if (effect === 'controller.job.create' && phase === 'before') throw new Error('killed');
    };
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'yes' });
    await fleet.fixture.eventually(
      () => fleet.fixture.stopped,
      () => 'no agent run is queued',
    );
    fleet.fixture.onEffect = () => undefined;
    await fleet.restart();
    await fleet.untilGood(['a']);
    expect(fleet.untouched()).toEqual(fleet.names.slice(1));
  });

  it('a removal with consent after evidence is recorded with the consent', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names) {
      const proven = [fleet.macOf(name)];
      await fleet.empty(name, await fleet.consentFor(name, { proven, consented: [] }));
    }
    await fleet.fixture.until('a', ({ status }) => status?.heldRemovals?.code === 'OverBudget');
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'yes' });
    await fleet.untilGood(['a']);
    const { status } = await fleet.fixture.get('a');
    expect(status?.applied?.removed).toMatchObject([{ basis: 'evidence' }, { basis: 'consent' }]);
  });

  it('edits and deletions count together', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of ['a', 'b']) await fleet.empty(name);
    for (const name of ['c', 'd']) await fleet.fixture.delete(name);
    await fleet.untilHeld(['a', 'b', 'c', 'd']);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it.each([
    ['proceed with consent for these NICs, object and spec', {}, good, 0],
    ['are held with consent for another object', { uid: 'other' }, blocked, 6],
    ['are held with consent for another spec', { spec: 'other' }, blocked, 6],
    ['are held with consent for another NIC', { consented: ['fa:16:3e:00:09:09'] }, blocked, 6],
    ['are held with consent older than an hour', { ageMs: 61 * minuteMs }, blocked, 6],
    ['are held with the bare hash of an earlier Viola', { text: true }, blocked, 6],
  ] satisfies [string, AnnotationChange, string, number][])(
    '[N2] removals from all nodes %s',
    async (_, { text: isText, ...change }: AnnotationChange, ready, left) => {
      fleet = await RemovalFleet.start(6);
      for (const name of fleet.names) {
        const metadata = await fleet.consentFor(name, change);
        const hash = specHash({ nodeName: name, instanceId: fleet.idOf(name), interfaces: [] });
        const text = { annotations: { 'multinic.io/removal-consent': hash } };
        await fleet.empty(name, isText ? text : metadata);
      }
      for (const name of fleet.names) await fleet.fixture.untilReady(name, ready);
      expect(fleet.untouched()).toHaveLength(left);
    },
  );

  it('[N2] consent to an edit is none to a later deletion', async () => {
    fleet = await RemovalFleet.start(6, 2);
    for (const name of fleet.names) {
      const spec = { nodeName: name, instanceId: fleet.idOf(name), interfaces: [fleet.nic(name)] };
      const consented = [fleet.macOf(name), fleet.second(name).macAddress];
      await fleet.apply(
        name,
        [fleet.nic(name)],
        await fleet.consentFor(name, { spec: specHash(spec), consented }),
      );
    }
    await fleet.untilGood();
    expect(fleet.untouched()).toEqual(fleet.names);
    for (const name of fleet.names) await fleet.fixture.delete(name);
    await fleet.untilHeld();
    await fleet.fixture.pass(50);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('[N2] a value of allow-removals set before the hold, or for an undone edit, is no consent', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names)
      await fleet.annotate(name, { 'multinic.io/allow-removals': 'old' });
    for (const name of fleet.names) await fleet.empty(name);
    await fleet.untilHeld();
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'used' });
    await fleet.untilGood(['a']);
    for (const name of fleet.names) await fleet.apply(name);
    await fleet.untilGood();
    for (const name of fleet.names) await fleet.fixture.delete(name);
    await fleet.untilHeld();
    await fleet.fixture.pass(50);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('a consent unused for an hour ends, and a new value is needed', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names) await fleet.empty(name);
    await fleet.untilHeld();
    await fleet.fixture.setReady('a', 'False');
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'yes' });
    await fleet.fixture.until('a', ({ status }) => status?.heldRemovals?.consent !== undefined);
    fleet.fixture.wallOffsetMs = 61 * minuteMs;
    await fleet.fixture.setReady('a', 'True');
    await fleet.fixture.until('a', ({ status }) => status?.heldRemovals?.allowRemovals === 'yes');
    expect(await fleet.messageOn('a')).toContain('ended before an agent could start');
    expect(fleet.untouched()).toEqual(fleet.names);
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'again' });
    await fleet.untilGood(['a']);
    expect(fleet.untouched()).toEqual(fleet.names.slice(1));
  });

  it('NICs with evidence leave without limit if their links are gone, and count in the budget otherwise', async () => {
    fleet = await RemovalFleet.start(6);
    const { unplugged } = fleet.fixture.agents;
    for (const name of ['a', 'b', 'c', 'd', 'e']) unplugged.add(fleet.macOf(name));
    for (const name of fleet.names) {
      const proven = [fleet.macOf(name)];
      await fleet.empty(name, await fleet.consentFor(name, { proven, consented: [] }));
    }
    await fleet.untilGood();
    expect(fleet.untouched()).toEqual([]);
    const { status } = await fleet.fixture.get('f');
    expect(status?.applied?.removed).toMatchObject([{ basis: 'evidence' }, { counts: true }]);
    expect((await fleet.fixture.get('a')).status?.applied?.removed).toHaveLength(1);
  });

  it('evidence against links that are present on most nodes is held', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names) {
      const proven = [fleet.macOf(name)];
      await fleet.empty(name, await fleet.consentFor(name, { proven, consented: [] }));
    }
    await fleet.untilHeld();
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('a node that loses NICs several times within an hour counts once', async () => {
    fleet = await RemovalFleet.start(4);
    for (const round of [1, 2, 3]) {
      for (const name of ['a', 'b']) await fleet.empty(name);
      await fleet.untilGood(['a', 'b']);
      expect(fleet.untouched(), `round ${round}`).toEqual(['c', 'd']);
      for (const name of ['a', 'b']) await fleet.apply(name);
      await fleet.untilGood(['a', 'b']);
    }
  });

  it('an unusable entry keeps its NIC, and removing the entry counts', async () => {
    fleet = await RemovalFleet.start(6);
    const broken = (name: string) => [{ ...fleet.nic(name), address: 'nonsense' }];
    for (const name of fleet.names) await fleet.apply(name, broken(name));
    for (const name of fleet.names) await fleet.fixture.untilReady(name, 'False InvalidEntries');
    expect(fleet.untouched()).toEqual(fleet.names);
    for (const name of fleet.names) await fleet.empty(name);
    await fleet.untilHeld();
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('a NIC that its object requested and dropped before a result is removed without consent', async () => {
    fleet = await RemovalFleet.start(1);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    let lost = true;
    agents.answer = (request) => {
      const result = answer(request);
      if (!lost || request.interfaces.length < 2) return result;
      lost = false;
      return 'garbage';
    };
    await fleet.apply('a', [fleet.nic('a'), fleet.second('a')]);
    await fleet.fixture.eventually(
      () => agents.macsOn('a').length === 2,
      () => 'nothing is requested',
    );
    await fleet.apply('a');
    await fleet.untilGood(['a']);
    expect(agents.macsOn('a')).toEqual([fleet.macOf('a')]);
  });

  it('an agent with protocol 3 gets no request while a NIC could leave, even after a lost result', async () => {
    fleet = await RemovalFleet.start(1);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    let isLost = true;
    agents.answer = (request) => {
      if (request.protocol > 3) return tooNew;
      const result = answer(request);
      return isLost ? 'garbage' : result;
    };
    await fleet.apply('a', [fleet.nic('a'), fleet.second('a')]);
    await fleet.fixture.eventually(
      () => agents.macsOn('a').length === 2,
      () => 'no agent works with protocol 3',
    );
    isLost = false;
    await fleet.apply('a');
    await fleet.fixture.eventually(
      () => agents.requests.at(-1)?.interfaces.length === 1,
      () => 'the reverted spec is not requested',
    );
    await fleet.fixture.pass(60);
    expect(agents.macsOn('a')).toEqual([fleet.macOf('a'), fleet.secondMacOf('a')]);
  });
});
