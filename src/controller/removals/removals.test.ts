import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { specHash } from '../../api/spec-hash.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const held = 'False RemovalHeld';
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
let fixture: ControllerFixture;
/** Node name to MACs, as the last agent run left them. */
let hosts: Map<string, string>;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  hosts = new Map();
  const { answer } = fixture.agents;
  fixture.agents.answer = (request) => {
    hosts.set(request.nodeName, request.interfaces.map(({ mac }) => mac).join());
    return answer(request);
  };
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const idOf = (name: string) => `uuid-of-${name}`;
const macOf = (name: string) => `fa:16:3e:00:01:0${names.indexOf(name)}`;
const nicOf = (name: string) => entry(0, { macAddress: macOf(name) });
const secondOf = (name: string) => entry(1, { macAddress: macOf(name).replace(':01:', ':02:') });

const brokenOf = (name: string) => ({ ...nicOf(name), address: 'nonsense' });

async function fleet(list: readonly string[] = names): Promise<void> {
  fixture.run();
  for (const name of list) {
    await fixture.addNode(name, idOf(name));
    await fixture.apply(name, { instanceId: idOf(name), interfaces: [nicOf(name)] });
  }
  for (const name of list) await fixture.untilReady(name, good);
}

const untouched = () => names.filter((name) => hosts.get(name) === macOf(name));

function annotate(name: string, annotations: Readonly<Record<string, string>>) {
  const ref = { namespace: 'multinic-system', name };
  return fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
}

const empty = (name: string, metadata = {}) =>
  fixture.apply(name, { instanceId: idOf(name), interfaces: [] }, metadata);

async function messageOn(name: string): Promise<string> {
  const { status } = await fixture.get(name);
  return findCondition(status?.conditions, 'Ready')?.message ?? '';
}

describe('an edit that removes NICs from nodes', () => {
  it('[C16] emptying most specs at once is held on every node', async () => {
    await fleet();
    for (const name of names) await empty(name);
    for (const name of names) await fixture.untilReady(name, held);
    await fixture.pass(700);
    expect(untouched()).toEqual(names);
    expect(await messageOn('a')).toContain('multinic.io/allow-removals');
    await annotate('a', { 'multinic.io/allow-removals': '1' });
    await fixture.untilReady('a', good);
    expect(untouched()).toEqual(names.slice(1));
  });

  it('[C16] removing one NIC from most nodes is held together with the rest of the edit', async () => {
    fixture.run();
    for (const name of names) {
      await fixture.addNode(name, idOf(name));
      const interfaces = [nicOf(name), secondOf(name)];
      await fixture.apply(name, { instanceId: idOf(name), interfaces });
    }
    for (const name of names) await fixture.untilReady(name, good);
    const count = fixture.agents.requests.length;
    for (const name of names) {
      const interfaces = [{ ...nicOf(name), address: '10.0.0.99' }];
      await fixture.apply(name, { instanceId: idOf(name), interfaces });
    }
    for (const name of names) await fixture.untilReady(name, held);
    await fixture.pass(100);
    expect(fixture.agents.requests).toHaveLength(count);
    for (const name of names) {
      const interfaces = [nicOf(name), secondOf(name)];
      await fixture.apply(name, { instanceId: idOf(name), interfaces });
    }
    for (const name of names) await fixture.untilReady(name, good);
    expect(fixture.agents.requests).toHaveLength(count);
  });

  it('[C16] shifted instance ids are held at any number of nodes', async () => {
    const list = ['a', 'b', 'c'];
    await fleet(list);
    for (const [at, name] of list.entries()) {
      const next = list[(at + 1) % list.length] ?? '';
      await fixture.apply(name, { instanceId: idOf(next), interfaces: [nicOf(name)] });
    }
    for (const name of list) await fixture.untilReady(name, held);
    await fixture.pass(100);
    expect(untouched()).toEqual(list);
  });

  it('[C16] two objects that swap instance ids and NICs are applied at once', async () => {
    await fleet(['a', 'b']);
    await fixture.apply('a', { instanceId: idOf('b'), interfaces: [nicOf('b')] });
    await fixture.apply('b', { instanceId: idOf('a'), interfaces: [nicOf('a')] });
    await fixture.untilReady('a', good);
    await fixture.untilReady('b', good);
    expect(untouched()).toEqual(['a', 'b']);
  });

  it('[C16] removals on three nodes proceed without consent, a fourth is held', async () => {
    await fleet();
    for (const name of names.slice(0, 3)) await empty(name);
    for (const name of names.slice(0, 3)) await fixture.untilReady(name, good);
    expect(untouched()).toEqual(names.slice(3));
    await empty('d');
    await fixture.untilReady('d', held);
  });

  it('[C16] removals by edit and deletions in the same minute count together', async () => {
    await fleet();
    for (const name of ['a', 'b']) await empty(name);
    for (const name of ['c', 'd']) await fixture.delete(name);
    for (const name of ['a', 'b', 'c', 'd']) await fixture.untilReady(name, held);
    await fixture.pass(100);
    expect(untouched()).toEqual(names);
  });

  it("[C16] removals with Viola's consent for this spec proceed and are not counted", async () => {
    await fleet();
    for (const name of names) {
      const hash = specHash({ nodeName: name, instanceId: idOf(name), interfaces: [] });
      await empty(name, { annotations: { 'multinic.io/removal-consent': hash } });
    }
    for (const name of names) await fixture.untilReady(name, good);
    expect(untouched()).toEqual([]);
  });

  it('[C16] removals stay held with a consent for another spec', async () => {
    await fleet();
    for (const name of names) {
      const hash = specHash({ nodeName: name, instanceId: idOf(name), interfaces: [nicOf(name)] });
      await empty(name, { annotations: { 'multinic.io/removal-consent': hash } });
    }
    for (const name of names) await fixture.untilReady(name, held);
    expect(untouched()).toEqual(names);
  });

  it('[C16] each side-effect removal needs a new allow-removals value', async () => {
    await fleet(['a']);
    await annotate('a', { 'multinic.io/allow-removals': 'once' });
    await fixture.addNode('z', 'uuid-z');
    await fixture.apply('a', { instanceId: 'uuid-z', interfaces: [nicOf('a')] });
    await fixture.untilReady('a', good);
    expect(hosts.get('a')).toBe('');
    await fixture.apply('a', { instanceId: idOf('a'), interfaces: [nicOf('a')] });
    await fixture.untilReady('a', held);
    await fixture.stop();
    fixture.run();
    await fixture.pass(100);
    expect(await fixture.ready('a')).toBe(held);
    await annotate('a', { 'multinic.io/allow-removals': 'twice' });
    await fixture.untilReady('a', good);
    expect(hosts.get('z')).toBe('');
  });

  it('[C16] a deletion held as MassDeletion by an earlier version stays held', async () => {
    await fleet(['a']);
    await fixture.stop();
    await fixture.delete('a');
    const { metadata, status } = await fixture.get('a');
    const asked = {
      status: 'False',
      reason: 'MassDeletion',
      observedGeneration: metadata.generation,
    } as const;
    const conditions = status?.conditions?.map((one) =>
      one.type === 'Ready' ? { ...one, ...asked } : one,
    );
    const ref = { namespace: 'multinic-system', name: 'a' };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status: { conditions } });
    fixture.run();
    await fixture.untilReady('a', held);
    await fixture.pass(100);
    expect(hosts.get('a')).toBe(macOf('a'));
  });

  it("[C16] a held edit does not hold the object's deletion", async () => {
    await fleet(['a']);
    await fixture.addNode('z', 'uuid-z');
    await fixture.apply('a', { instanceId: 'uuid-z', interfaces: [nicOf('a')] });
    await fixture.untilReady('a', held);
    await fixture.delete('a');
    await fixture.untilGone('a');
    expect(hosts.get('a')).toBe('');
  });

  it('[C16] a held NIC keeps its Configured status', async () => {
    await fleet();
    for (const name of names) await empty(name);
    const { status } = await fixture.untilReady('a', held);
    expect(status?.interfaceStatuses).toMatchObject([{ name: 'multinic0', status: 'Configured' }]);
  });

  it('[C16] removing an unusable entry is held too, because its NIC is on the node', async () => {
    await fleet();
    for (const name of names) {
      await fixture.apply(name, { instanceId: idOf(name), interfaces: [brokenOf(name)] });
    }
    for (const name of names) await fixture.untilReady(name, 'False InvalidEntries');
    const count = fixture.agents.requests.length;
    for (const name of names) await empty(name);
    for (const name of names) await fixture.untilReady(name, held);
    expect(fixture.agents.requests).toHaveLength(count);
  });

  it('[C16] a node losing NICs several times within a minute counts once', async () => {
    await fleet(['a', 'b']);
    for (const round of [1, 2, 3]) {
      for (const name of ['a', 'b']) await empty(name);
      for (const name of ['a', 'b']) await fixture.untilReady(name, good);
      expect(untouched(), `round ${round}`).toEqual([]);
      for (const name of ['a', 'b']) {
        await fixture.apply(name, { instanceId: idOf(name), interfaces: [nicOf(name)] });
      }
      for (const name of ['a', 'b']) await fixture.untilReady(name, good);
    }
  });

  it('[C16] a removal by edit and a deletion of the same object count once', async () => {
    await fleet();
    for (const name of ['a', 'b']) await empty(name);
    for (const name of ['a', 'b']) await fixture.untilReady(name, good);
    for (const name of ['a', 'b', 'c']) await fixture.delete(name);
    for (const name of ['a', 'b', 'c']) await fixture.untilGone(name);
    await empty('d');
    await fixture.untilReady('d', held);
  });
});
