import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

// Tests compare the hosts' NICs after edits and deletions, as recorded from agent requests.
const good = 'True AllInterfacesConfigured';
const held = 'False RemovalHeld';
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
let fixture: ControllerFixture;
/** Host name to its NICs' MACs. */
let hosts: Map<string, string>;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  hosts = new Map();
  const { answer } = fixture.agents;
  fixture.agents.answer = (request) => {
    const macs = request.interfaces.map(({ mac }) => mac).join();
    if (request.action !== 'check') hosts.set(request.nodeName, macs);
    return answer(request);
  };
});

afterEach(() => fixture[Symbol.asyncDispose]());

const idOf = (name: string) => `uuid-of-${name}`;
const macOf = (name: string) => `fa:16:3e:00:01:0${names.indexOf(name)}`;
const nicOf = (name: string) => entry(0, { macAddress: macOf(name) });
const untouched = (list: readonly string[]) =>
  list.filter((name) => hosts.get(name) === macOf(name));

async function join(name: string): Promise<void> {
  await fixture.addNode(name, idOf(name));
  const machine = { machineID: `machine-${name}`, bootID: `boot-${name}` };
  await fixture.setNode(name, { systemUUID: idOf(name), ...machine });
}

async function fleet(list: readonly string[] = names): Promise<void> {
  fixture.run();
  for (const name of list) {
    await join(name);
    await fixture.apply(name, { instanceId: idOf(name), interfaces: [nicOf(name)] });
  }
  for (const name of list) await fixture.untilReady(name, good);
}

/** Gives each object the next object's instance id, as a user's mistake. */
async function shift(list: readonly string[]): Promise<void> {
  for (const [at, name] of list.entries()) {
    const next = list[(at + 1) % list.length] ?? '';
    await fixture.apply(name, { instanceId: idOf(next), interfaces: [nicOf(name)] });
  }
}

/** Deletes Nodes, runs `edit`, and registers the Nodes again. */
async function registerAnew(list: readonly string[], edit: () => Promise<void>): Promise<void> {
  for (const name of list) await fixture.admin.delete(nodes, { name });
  await fixture.pass(10);
  await edit();
  await fixture.pass(10);
  for (const name of list) await join(name);
  await fixture.pass(150);
}

describe('[C16] a deleted object', () => {
  it('a deleted object with a wrong instance id does not clean that node, which another object configured', async () => {
    const list = ['a', 'b', 'c'];
    await fleet(list);
    await shift(list);
    for (const name of list) await fixture.untilReady(name, held);
    await fixture.delete('a');
    await fixture.pass(100);
    expect(untouched(['b', 'c'])).toEqual(['b', 'c']);
  });

  it('a deleted object does not clean the node of a mistyped object', async () => {
    await fleet(['a', 'b']);
    await fixture.apply('b', { instanceId: 'uuid-typo', interfaces: [nicOf('b')] });
    await fixture.untilReady('b', 'False NodeNotFound');
    await fixture.apply('x', { instanceId: idOf('b'), interfaces: [nicOf('f')] });
    await fixture.untilReady('x', held);
    await fixture.delete('x');
    await fixture.pass(100);
    expect(untouched(['b'])).toEqual(['b']);
  });

  it.each(['before', 'after'])(
    'a deletion needs consent when its successor, created %s, has no NICs',
    async (order) => {
      await fleet();
      const make = async () => {
        for (const name of names) {
          const spec = { nodeName: name, instanceId: idOf(name), interfaces: [] };
          await fixture.apply(`${name}-new`, spec);
        }
      };
      if (order === 'before') await make();
      for (const name of names) await fixture.delete(name);
      if (order === 'after') await make();
      await fixture.pass(150);
      expect(untouched(names)).toEqual(names);
    },
  );

  it('a deletion proceeds with a new allow-removals value, without a second request', async () => {
    await fleet();
    for (const name of names) await fixture.delete(name);
    for (const name of names) await fixture.untilReady(name, held);
    const ref = { namespace: 'multinic-system', name: 'a' };
    const annotations = { 'multinic.io/allow-removals': 'now' };
    await fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
    await fixture.untilGone('a');
    expect(untouched(names)).toEqual(names.slice(1));
  });

  it('[C8] a deletion with server-gone consent does not wait for a Node that is not ready', async () => {
    await fleet(['a']);
    await fixture.setReady('a', 'Unknown');
    const ref = { namespace: 'multinic-system', name: 'a' };
    const annotations = { 'multinic.io/delete-consent': `${fixture.clock.now().toISOString()}!` };
    await fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
    await fixture.delete('a');
    await fixture.untilGone('a');
  });
});

describe('[C16] Nodes that register again', () => {
  it('Nodes that register again keep their NICs when the specs were emptied meanwhile', async () => {
    await fleet();
    await registerAnew(names, async () => {
      for (const name of names)
        await fixture.apply(name, { instanceId: idOf(name), interfaces: [] });
    });
    expect(untouched(names)).toEqual(names);
  });

  it('Nodes that register again keep their NICs when the instance ids were shifted meanwhile', async () => {
    const list = ['a', 'b', 'c'];
    await fleet(list);
    await registerAnew(list, () => shift(list));
    expect(untouched(list)).toEqual(list);
  });
});
