import { afterEach, describe, expect, it } from 'vitest';
import { blocked, good, RemovalFleet } from '../../../test/fixtures/removal-fleet.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

// NICs that leave by other ways than an edit or a deletion, asked of the hosts.
let fleet: RemovalFleet;

afterEach(() => fleet[Symbol.asyncDispose]());

/** Gives each object the next object's instance id, as a user's mistake. */
async function shift(): Promise<void> {
  for (const [at, name] of fleet.names.entries()) {
    const next = fleet.names[(at + 1) % fleet.names.length] ?? '';
    await fleet.fixture.apply(name, {
      instanceId: fleet.idOf(next),
      interfaces: [fleet.nic(name)],
    });
  }
}

/** Deletes objects without their finalizers, as a lost cluster does, and creates them with these NICs. */
async function recreate(interfacesOf: (name: string) => readonly object[]): Promise<void> {
  await fleet.fixture.stop();
  for (const name of fleet.names) {
    const ref = { namespace: 'multinic-system', name };
    await fleet.fixture.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await fleet.fixture.delete(name);
    await fleet.fixture.untilGone(name);
    await fleet.apply(name, interfacesOf(name));
  }
  fleet.fixture.run();
}

describe('an object without a record of its node', () => {
  it('[R1] objects restored from an older backup configure their NICs and leave the others on the hosts', async () => {
    fleet = await RemovalFleet.start(6, 2);
    await recreate((name) => [fleet.nic(name)]);
    await fleet.untilHeld();
    expect(fleet.untouched(2)).toEqual(fleet.names);
    expect(await fleet.messageOn('a')).toMatch(/^SideEffect: NIC fa:16:3e:00:02:61 would be/);
    await fleet.annotate('a', { 'multinic.io/allow-removals': '1' });
    await fleet.untilGood(['a']);
    expect(fleet.untouched(2)).toEqual(fleet.names.slice(1));
    for (const name of ['b', 'c']) await fleet.apply(name, [fleet.nic(name), fleet.second(name)]);
    await fleet.untilGood(['b', 'c']);
  });

  it('objects restored from the same backup change nothing', async () => {
    fleet = await RemovalFleet.start(3, 2);
    await recreate((name) => [fleet.nic(name), fleet.second(name)]);
    await fleet.untilGood();
    expect(fleet.untouched(2)).toEqual(fleet.names);
  });

  it.each([
    ['status.applied is lost', { applied: null }],
    ['the whole status is lost', null],
  ])('[N3] specs emptied after %s remove no NIC', async (_, change) => {
    fleet = await RemovalFleet.start(6);
    await fleet.fixture.stop();
    for (const name of fleet.names) {
      await fleet.setStatus(name, change);
      await fleet.empty(name);
    }
    fleet.fixture.run();
    await fleet.untilHeld();
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('a restored object with an older legacy status removes no NIC', async () => {
    fleet = await RemovalFleet.start(1, 2);
    const { status } = await fleet.fixture.get('a');
    // The legacy controller writes these fields only.
    const interfaceStatuses = status?.interfaceStatuses?.map((one) => {
      const { id, name, macAddress, status: state, lastUpdated } = one;
      return { id, name, macAddress, status: state, lastUpdated };
    });
    await fleet.fixture.pass(20);
    await recreate((name) => [fleet.nic(name)]);
    await fleet.fixture.stop();
    await fleet.setStatus('a', null);
    await fleet.setStatus('a', {
      state: 'Configured',
      nodeReady: true,
      conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
      interfaceStatuses,
    });
    fleet.fixture.run({ 'take-over': 'true' });
    await fleet.untilHeld();
    expect(fleet.untouched(2)).toEqual(['a']);
  });

  it('a deleted object without a record reads its node first, and waits for consent', async () => {
    fleet = await RemovalFleet.start(1);
    await fleet.fixture.stop();
    await fleet.setStatus('a', null);
    await fleet.fixture.delete('a');
    fleet.fixture.run();
    await fleet.untilHeld();
    expect(fleet.untouched()).toEqual(['a']);
    const at = fleet.fixture.clock.now().toISOString();
    await fleet.annotate('a', { 'multinic.io/delete-consent': at });
    await fleet.fixture.untilGone('a');
    expect(fleet.untouched()).toEqual([]);
  });

  it('a deleted object that never had a NIC is released', async () => {
    fleet = await RemovalFleet.start(1);
    await fleet.join('b');
    await fleet.empty('b');
    await fleet.fixture.delete('b');
    await fleet.fixture.untilGone('b');
  });
});

describe('[C16] an object that refers to another node', () => {
  it('shifted instance ids remove no NIC, whatever the number of nodes', async () => {
    fleet = await RemovalFleet.start(3);
    await shift();
    await fleet.fixture.pass(150);
    expect(fleet.untouched()).toEqual(fleet.names);
    for (const name of fleet.names) expect(await fleet.fixture.ready(name)).toBe(blocked);
  });

  it('two objects that swap instance ids and NICs are applied at once', async () => {
    fleet = await RemovalFleet.start(2);
    await fleet.fixture.apply('a', { instanceId: fleet.idOf('b'), interfaces: [fleet.nic('b')] });
    await fleet.fixture.apply('b', { instanceId: fleet.idOf('a'), interfaces: [fleet.nic('a')] });
    await fleet.untilGood();
    expect(fleet.fixture.agents.macsOn('a')).toEqual([fleet.macOf('a')]);
    expect(fleet.fixture.agents.macsOn('b')).toEqual([fleet.macOf('b')]);
  });

  it('each removal from a former node needs a new allow-removals value', async () => {
    fleet = await RemovalFleet.start(1);
    const { agents } = fleet.fixture;
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'before' });
    await fleet.fixture.addNode('z', 'uuid-z');
    const moved = { instanceId: 'uuid-z', interfaces: [fleet.nic('a')] };
    await fleet.fixture.apply('a', moved);
    await fleet.untilHeld();
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'once' });
    await fleet.untilGood();
    expect(agents.macsOn('a')).toEqual([]);
    await fleet.apply('a');
    await fleet.untilHeld();
    await fleet.restart();
    await fleet.fixture.pass(100);
    expect(agents.macsOn('z')).toEqual([fleet.macOf('a')]);
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'twice' });
    await fleet.untilGood();
    expect(agents.macsOn('z')).toEqual([]);
  });

  it('a deleted object with a wrong instance id does not clean that node, which another object configured', async () => {
    fleet = await RemovalFleet.start(3);
    await shift();
    await fleet.fixture.pass(100);
    await fleet.fixture.delete('a');
    await fleet.fixture.pass(100);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('a deleted object does not clean the node of a mistyped object', async () => {
    fleet = await RemovalFleet.start(2);
    const typo = { instanceId: 'uuid-typo', interfaces: [fleet.nic('b')] };
    await fleet.fixture.apply('b', typo);
    await fleet.fixture.untilReady('b', 'False NodeNotFound');
    await fleet.fixture.apply('x', { instanceId: fleet.idOf('b'), interfaces: [fleet.nic('f')] });
    await fleet.fixture.pass(100);
    await fleet.fixture.delete('x');
    await fleet.fixture.pass(100);
    expect(fleet.fixture.agents.macsOn('b')).toContain(fleet.macOf('b'));
  });

  it.each(['before', 'after'])(
    'deletions whose successors, created %s, list no NIC wait for consent',
    async (order) => {
      fleet = await RemovalFleet.start(6);
      const make = async () => {
        for (const name of fleet.names) {
          const spec = { nodeName: name, instanceId: fleet.idOf(name), interfaces: [] };
          await fleet.fixture.apply(`${name}-new`, spec);
        }
      };
      if (order === 'before') await make();
      for (const name of fleet.names) await fleet.fixture.delete(name);
      if (order === 'after') await make();
      await fleet.fixture.pass(150);
      expect(fleet.untouched()).toEqual(fleet.names);
    },
  );

  it('evidence against present links counts when successors list only some NICs', async () => {
    fleet = await RemovalFleet.start(4, 2);
    for (const name of fleet.names) {
      await fleet.proveDeletion(name, fleet.fixture.agents.macsOn(name));
      await fleet.fixture.apply(`${name}-new`, {
        nodeName: name,
        instanceId: fleet.idOf(name),
        interfaces: [fleet.nic(name)],
      });
      await fleet.fixture.delete(name);
    }
    await fleet.untilHeld();
    await fleet.fixture.pass(100);
    expect(fleet.untouched(2)).toEqual(fleet.names);
  });

  it('deletions whose successors list the NICs change no host and use no budget', async () => {
    fleet = await RemovalFleet.start(6);
    for (const name of fleet.names) await fleet.fixture.delete(name);
    for (const name of fleet.names) {
      const spec = { nodeName: name, instanceId: fleet.idOf(name), interfaces: [fleet.nic(name)] };
      await fleet.fixture.apply(`${name}-new`, spec);
    }
    for (const name of fleet.names) await fleet.fixture.untilGone(name);
    for (const name of fleet.names) await fleet.fixture.untilReady(`${name}-new`, good);
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it.each(['emptied', 'shifted'])(
    'Nodes that register again keep their NICs when the specs were %s meanwhile',
    async (act) => {
      fleet = await RemovalFleet.start(act === 'emptied' ? 6 : 3);
      for (const name of fleet.names) await fleet.fixture.admin.delete(nodes, { name });
      await fleet.fixture.pass(10);
      if (act === 'shifted') await shift();
      else for (const name of fleet.names) await fleet.empty(name);
      await fleet.fixture.pass(10);
      for (const name of fleet.names) await fleet.join(name);
      await fleet.fixture.pass(150);
      expect(fleet.untouched()).toEqual(fleet.names);
    },
  );
});
