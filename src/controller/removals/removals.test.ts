import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { specHash } from '../../api/spec-hash.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const held = 'False RemovalHeld';
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
let bed: ControllerFixture;
/** MACs that each node has, as its agents left them. */
let hosts: Map<string, string>;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  hosts = new Map();
  const { answer } = bed.agents;
  bed.agents.answer = (request) => {
    hosts.set(request.nodeName, request.interfaces.map(({ mac }) => mac).join());
    return answer(request);
  };
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const idOf = (name: string) => `uuid-of-${name}`;
const macOf = (name: string) => `fa:16:3e:00:01:0${names.indexOf(name)}`;
const nicOf = (name: string) => entry(0, { macAddress: macOf(name) });
const secondOf = (name: string) => entry(1, { macAddress: macOf(name).replace(':01:', ':02:') });

const brokenOf = (name: string) => ({ ...nicOf(name), address: 'nonsense' });

async function fleet(list: readonly string[] = names): Promise<void> {
  bed.run();
  for (const name of list) {
    await bed.addNode(name, idOf(name));
    await bed.apply(name, { instanceId: idOf(name), interfaces: [nicOf(name)] });
  }
  for (const name of list) await bed.untilReady(name, good);
}

const untouched = () => names.filter((name) => hosts.get(name) === macOf(name));

function annotate(name: string, annotations: Readonly<Record<string, string>>) {
  const ref = { namespace: 'multinic-system', name };
  return bed.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
}

const empty = (name: string, metadata = {}) =>
  bed.apply(name, { instanceId: idOf(name), interfaces: [] }, metadata);

async function messageOn(name: string): Promise<string> {
  const { status } = await bed.get(name);
  return findCondition(status?.conditions, 'Ready')?.message ?? '';
}

describe('an edit that takes NICs from nodes', () => {
  it('[C16] waits on every node when the specs of most nodes are emptied at once', async () => {
    await fleet();
    for (const name of names) await empty(name);
    for (const name of names) await bed.untilReady(name, held);
    await bed.pass(700);
    expect(untouched()).toEqual(names);
    expect(await messageOn('a')).toContain('multinic.io/allow-removals');
    await annotate('a', { 'multinic.io/allow-removals': '1' });
    await bed.untilReady('a', good);
    expect(untouched()).toEqual(names.slice(1));
  });

  it('[C16] waits when one of two NICs leaves most nodes, and the rest of the edit waits with it', async () => {
    bed.run();
    for (const name of names) {
      await bed.addNode(name, idOf(name));
      const interfaces = [nicOf(name), secondOf(name)];
      await bed.apply(name, { instanceId: idOf(name), interfaces });
    }
    for (const name of names) await bed.untilReady(name, good);
    const count = bed.agents.requests.length;
    for (const name of names) {
      const interfaces = [{ ...nicOf(name), address: '10.0.0.99' }];
      await bed.apply(name, { instanceId: idOf(name), interfaces });
    }
    for (const name of names) await bed.untilReady(name, held);
    await bed.pass(100);
    expect(bed.agents.requests).toHaveLength(count);
    for (const name of names) {
      const interfaces = [nicOf(name), secondOf(name)];
      await bed.apply(name, { instanceId: idOf(name), interfaces });
    }
    for (const name of names) await bed.untilReady(name, good);
    expect(bed.agents.requests).toHaveLength(count);
  });

  it('[C16] waits at any number when instance ids are shifted by one line', async () => {
    const list = ['a', 'b', 'c'];
    await fleet(list);
    for (const [at, name] of list.entries()) {
      const next = list[(at + 1) % list.length] ?? '';
      await bed.apply(name, { instanceId: idOf(next), interfaces: [nicOf(name)] });
    }
    for (const name of list) await bed.untilReady(name, held);
    await bed.pass(100);
    expect(untouched()).toEqual(list);
  });

  it('[C16] is carried out at once when the two objects of two nodes exchange ids and NICs', async () => {
    await fleet(['a', 'b']);
    await bed.apply('a', { instanceId: idOf('b'), interfaces: [nicOf('b')] });
    await bed.apply('b', { instanceId: idOf('a'), interfaces: [nicOf('a')] });
    await bed.untilReady('a', good);
    await bed.untilReady('b', good);
    expect(untouched()).toEqual(['a', 'b']);
  });

  it('[C16] is carried out without a question on as few nodes as may lose NICs at once', async () => {
    await fleet();
    for (const name of names.slice(0, 3)) await empty(name);
    for (const name of names.slice(0, 3)) await bed.untilReady(name, good);
    expect(untouched()).toEqual(names.slice(3));
    await empty('d');
    await bed.untilReady('d', held);
  });

  it('[C16] counts with deletions of the same minute', async () => {
    await fleet();
    for (const name of ['a', 'b']) await empty(name);
    for (const name of ['c', 'd']) await bed.delete(name);
    for (const name of ['a', 'b', 'c', 'd']) await bed.untilReady(name, held);
    await bed.pass(100);
    expect(untouched()).toEqual(names);
  });

  it('[C16] is carried out with the consent of Viola for exactly this spec, and is not counted', async () => {
    await fleet();
    for (const name of names) {
      const hash = specHash({ nodeName: name, instanceId: idOf(name), interfaces: [] });
      await empty(name, { annotations: { 'multinic.io/removal-consent': hash } });
    }
    for (const name of names) await bed.untilReady(name, good);
    expect(untouched()).toEqual([]);
  });

  it('[C16] stays held with a consent that was given for another spec', async () => {
    await fleet();
    for (const name of names) {
      const hash = specHash({ nodeName: name, instanceId: idOf(name), interfaces: [nicOf(name)] });
      await empty(name, { annotations: { 'multinic.io/removal-consent': hash } });
    }
    for (const name of names) await bed.untilReady(name, held);
    expect(untouched()).toEqual(names);
  });

  it('[C16] needs another value of allow-removals for another removal', async () => {
    await fleet(['a']);
    await annotate('a', { 'multinic.io/allow-removals': 'once' });
    await bed.addNode('z', 'uuid-z');
    await bed.apply('a', { instanceId: 'uuid-z', interfaces: [nicOf('a')] });
    await bed.untilReady('a', good);
    expect(hosts.get('a')).toBe('');
    await bed.apply('a', { instanceId: idOf('a'), interfaces: [nicOf('a')] });
    await bed.untilReady('a', held);
    await bed.stop();
    bed.run();
    await bed.pass(100);
    expect(await bed.ready('a')).toBe(held);
    await annotate('a', { 'multinic.io/allow-removals': 'twice' });
    await bed.untilReady('a', good);
    expect(hosts.get('z')).toBe('');
  });

  it('[C16] was asked about by an earlier version: a deletion held as MassDeletion stays held', async () => {
    await fleet(['a']);
    await bed.stop();
    await bed.delete('a');
    const { metadata, status } = await bed.get('a');
    const asked = {
      status: 'False',
      reason: 'MassDeletion',
      observedGeneration: metadata.generation,
    } as const;
    const conditions = status?.conditions?.map((one) =>
      one.type === 'Ready' ? { ...one, ...asked } : one,
    );
    const ref = { namespace: 'multinic-system', name: 'a' };
    await bed.admin.patchStatus(nodeConfigs, ref, { status: { conditions } });
    bed.run();
    await bed.untilReady('a', held);
    await bed.pass(100);
    expect(hosts.get('a')).toBe(macOf('a'));
  });

  it('[C16] that is held does not hold the deletion of the object, which names its node', async () => {
    await fleet(['a']);
    await bed.addNode('z', 'uuid-z');
    await bed.apply('a', { instanceId: 'uuid-z', interfaces: [nicOf('a')] });
    await bed.untilReady('a', held);
    await bed.delete('a');
    await bed.untilGone('a');
    expect(hosts.get('a')).toBe('');
  });

  it('[C16] says of a NIC that is held what it was, not that it leaves', async () => {
    await fleet();
    for (const name of names) await empty(name);
    const { status } = await bed.untilReady('a', held);
    expect(status?.interfaceStatuses).toMatchObject([{ name: 'multinic0', status: 'Configured' }]);
  });

  it('[C16] of an entry that could not be used is asked about as well: its NIC is on the node', async () => {
    await fleet();
    for (const name of names) {
      await bed.apply(name, { instanceId: idOf(name), interfaces: [brokenOf(name)] });
    }
    for (const name of names) await bed.untilReady(name, 'False InvalidEntries');
    const count = bed.agents.requests.length;
    for (const name of names) await empty(name);
    for (const name of names) await bed.untilReady(name, held);
    expect(bed.agents.requests).toHaveLength(count);
  });

  it('[C16] counts a node once, however often it loses NICs within a minute', async () => {
    await fleet(['a', 'b']);
    for (const round of [1, 2, 3]) {
      for (const name of ['a', 'b']) await empty(name);
      for (const name of ['a', 'b']) await bed.untilReady(name, good);
      expect(untouched(), `round ${round}`).toEqual([]);
      for (const name of ['a', 'b']) {
        await bed.apply(name, { instanceId: idOf(name), interfaces: [nicOf(name)] });
      }
      for (const name of ['a', 'b']) await bed.untilReady(name, good);
    }
  });

  it('[C16] and a deletion of the same object count once', async () => {
    await fleet();
    for (const name of ['a', 'b']) await empty(name);
    for (const name of ['a', 'b']) await bed.untilReady(name, good);
    for (const name of ['a', 'b', 'c']) await bed.delete(name);
    for (const name of ['a', 'b', 'c']) await bed.untilGone(name);
    await empty('d');
    await bed.untilReady('d', held);
  });
});
