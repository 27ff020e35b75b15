import { afterEach, describe, expect, it } from 'vitest';
import { blocked, RemovalFleet } from '../../../test/fixtures/removal-fleet.ts';
import { configMaps, crds, nodes } from '../../kube/core-resources.ts';

let fleet: RemovalFleet;

afterEach(() => fleet[Symbol.asyncDispose]());

const ledger = { namespace: 'multinic-system', name: 'multinic-removals' };
const minuteMs = 60_000;

function consent(name: string, at = fleet.fixture.clock.now().toISOString()) {
  return fleet.annotate(name, { 'multinic.io/delete-consent': at });
}

async function deleteAll(names: readonly string[] = fleet.names): Promise<void> {
  for (const name of names) await fleet.fixture.delete(name);
}

async function untilGone(names: readonly string[] = fleet.names): Promise<void> {
  for (const name of names) await fleet.fixture.untilGone(name);
}

/** Returns the number of full Node lists requested by the controller. */
function nodeLists(): number {
  return fleet.fixture.api.audit.filter(({ user, verb, resource }) => {
    return user !== 'kubernetes-admin' && verb === 'list' && resource === 'nodes';
  }).length;
}

describe('deletions', () => {
  it('[RW-73] deleting most objects cleans no node until consent on each object', async () => {
    fleet = await RemovalFleet.start(5);
    await deleteAll();
    await fleet.untilHeld();
    await fleet.fixture.pass(700);
    expect(fleet.untouched()).toEqual(fleet.names);
    for (const name of ['a', 'b', 'c']) await consent(name);
    await untilGone(['a', 'b', 'c']);
    await fleet.restart();
    fleet.fixture.wallOffsetMs = 90 * minuteMs;
    await fleet.fixture.pass(700);
    expect(fleet.untouched()).toEqual(['d', 'e']);
    expect(await fleet.fixture.ready('d')).toBe(blocked);
  });

  it('deletions with consent clean all nodes at once', async () => {
    fleet = await RemovalFleet.start(5);
    for (const name of fleet.names) await consent(name);
    await deleteAll();
    await untilGone();
    expect(fleet.untouched()).toEqual([]);
  });

  it.each([
    ['is three days old', -3 * 24 * 60],
    ['is two hours in the future', 120],
    ['is a month in the future', 30 * 24 * 60],
    ['has no time', undefined],
  ])('[C17] a mass deletion is held when the consent %s', async (_, minutes) => {
    fleet = await RemovalFleet.start(5);
    const now = fleet.fixture.clock.now().getTime();
    const at = minutes === undefined ? 'yes' : new Date(now + minutes * minuteMs).toISOString();
    for (const name of fleet.names) await consent(name, at);
    await deleteAll();
    await fleet.untilHeld();
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('deletions are held when their consent is unused for an hour', async () => {
    fleet = await RemovalFleet.start(4);
    for (const name of fleet.names) await fleet.fixture.setReady(name, 'False');
    for (const name of fleet.names) await consent(name);
    await deleteAll();
    await fleet.fixture.pass(40);
    fleet.fixture.wallOffsetMs = 65 * minuteMs;
    for (const name of fleet.names) await fleet.fixture.setReady(name, 'True');
    await fleet.untilHeld();
    expect(fleet.untouched()).toEqual(fleet.names);
  });

  it('[C17] a mass deletion proceeds with consent given days later', async () => {
    fleet = await RemovalFleet.start(5);
    await deleteAll();
    await fleet.untilHeld();
    fleet.fixture.clock.setWall(3 * 24 * 60 * minuteMs);
    await consent('a');
    await untilGone(['a']);
    expect(fleet.untouched()).toEqual(['b', 'c', 'd', 'e']);
  });

  it('a deletion proceeds with a new allow-removals value', async () => {
    fleet = await RemovalFleet.start(5);
    await deleteAll();
    await fleet.untilHeld();
    await fleet.annotate('a', { 'multinic.io/allow-removals': 'now' });
    await untilGone(['a']);
    expect(fleet.untouched()).toEqual(['b', 'c', 'd', 'e']);
  });

  it('a deletion backed by evidence is held where most links are present', async () => {
    fleet = await RemovalFleet.start(6);
    fleet.fixture.agents.unplugged.add(fleet.macOf('a'));
    for (const name of fleet.names) await fleet.proveDeletion(name);
    await deleteAll();
    await untilGone(['a']);
    await fleet.untilHeld(['b', 'c', 'd', 'e', 'f']);
    expect(fleet.untouched()).toEqual(['b', 'c', 'd', 'e', 'f']);
  });

  it('a deletion with evidence for a single NIC holds the second NIC', async () => {
    fleet = await RemovalFleet.start(4, 2);
    for (const name of fleet.names) {
      for (const mac of fleet.fixture.agents.macsOn(name)) fleet.fixture.agents.unplugged.add(mac);
      await fleet.proveDeletion(name);
    }
    await deleteAll();
    await fleet.untilHeld();
    await fleet.fixture.pass(40);
    for (const name of fleet.names) {
      expect(fleet.fixture.agents.macsOn(name)).toContain(fleet.secondMacOf(name));
    }
  });

  it('deleted objects count after they are gone, and across a restart', async () => {
    fleet = await RemovalFleet.start(5);
    for (const name of ['a', 'b', 'c']) {
      await fleet.fixture.delete(name);
      await untilGone([name]);
      await fleet.restart();
    }
    await fleet.fixture.delete('d');
    await fleet.untilHeld(['d']);
    expect(fleet.untouched()).toEqual(['d', 'e']);
    expect(await fleet.messageOn('d')).toContain('4 nodes of 5');
  });

  it('a deleted object counts for its whole hour, although an entry of the next hour is written', async () => {
    fleet = await RemovalFleet.start(5);
    const { clock } = fleet.fixture;
    const startOfMinute = minuteMs - (clock.now().getTime() % minuteMs);
    await fleet.fixture.pass(1, startOfMinute + 50_000);
    await fleet.fixture.delete('a');
    await untilGone(['a']);
    await fleet.fixture.pass(118, minuteMs / 2);
    await fleet.fixture.pass(1, 8_000);
    for (const name of ['b', 'c']) {
      await fleet.fixture.delete(name);
      await untilGone([name]);
    }
    await fleet.restart();
    await fleet.fixture.delete('d');
    await fleet.untilHeld(['d']);
  });

  it('the ledger is written before a finalizer goes, at most once a second', async () => {
    fleet = await RemovalFleet.start(20);
    const some = fleet.names.slice(0, 4);
    await deleteAll(some);
    await untilGone(some);
    const { audit } = fleet.fixture.api;
    const writes = audit.filter(
      ({ resource, verb }) => resource === 'configmaps' && verb === 'patch',
    );
    expect(writes.length).toBeLessThanOrEqual(4);
    const { data = {} } = await fleet.fixture.admin.get(configMaps, ledger);
    expect(Object.values(data).join()).toContain(fleet.macOf('d'));
  });

  it('an unreadable ledger holds deletions, and a missing one counts from the objects', async () => {
    fleet = await RemovalFleet.start(5);
    await fleet.fixture.stop();
    const { namespace, name } = ledger;
    await fleet.fixture.admin.create(configMaps, {
      metadata: { namespace, name },
      data: { '01': 'x' },
    });
    fleet.fixture.run();
    await fleet.fixture.delete('a');
    await fleet.untilHeld(['a']);
    expect(await fleet.messageOn('a')).toMatch(/^NotCounted: .*data\.01 is not a list of removals/);
    await fleet.fixture.admin.delete(configMaps, ledger);
    await fleet.fixture.pass(150);
    await fleet.fixture.delete('b');
    await untilGone(['a', 'b']);
  });

  it.each([
    ['', false],
    [' and an earlier consent to its deletion', true],
  ])('deleting the CRD cleans no node, even with a single object%s', async (_, isConsented) => {
    fleet = await RemovalFleet.start(1);
    if (isConsented) await consent('a');
    await fleet.fixture.admin.delete(crds, { name: 'multinicnodeconfigs.multinic.io' });
    await fleet.untilHeld();
    await fleet.fixture.pass(100);
    expect(fleet.untouched()).toEqual(['a']);
  });

  it('objects whose servers are gone are released at once, with fewer Node lists than objects', async () => {
    fleet = await RemovalFleet.start(5);
    for (const name of fleet.names) await fleet.fixture.admin.delete(nodes, { name });
    for (const name of fleet.names) await fleet.fixture.untilReady(name, 'False NodeNotFound');
    const at = `${fleet.fixture.clock.now().toISOString()}!`;
    for (const name of fleet.names) await consent(name, at);
    const before = nodeLists();
    await Promise.all(fleet.names.map((name) => fleet.fixture.delete(name)));
    await untilGone();
    expect(nodeLists() - before).toBeLessThan(fleet.names.length);
  });

  it('[C8] a deletion with server-gone consent does not wait for a Node that is not ready', async () => {
    fleet = await RemovalFleet.start(1);
    await fleet.fixture.setReady('a', 'Unknown');
    await consent('a', `${fleet.fixture.clock.now().toISOString()}!`);
    await fleet.fixture.delete('a');
    await untilGone(['a']);
  });

  it("a held edit does not hold the object's deletion", async () => {
    fleet = await RemovalFleet.start(1);
    await fleet.fixture.addNode('z', 'uuid-z');
    await fleet.fixture.apply('a', { instanceId: 'uuid-z', interfaces: [fleet.nic('a')] });
    await fleet.untilHeld();
    await fleet.fixture.delete('a');
    await untilGone(['a']);
    expect(fleet.untouched()).toEqual([]);
  });
});
