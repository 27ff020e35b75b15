import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

// What is on the hosts after edits and deletions, which every agent that changes something notes.
const good = 'True AllInterfacesConfigured';
const held = 'False RemovalHeld';
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
let bed: ControllerFixture;
/** MACs of the NICs on each host. */
let hosts: Map<string, string>;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  hosts = new Map();
  const { answer } = bed.agents;
  bed.agents.answer = (request) => {
    const macs = request.interfaces.map(({ mac }) => mac).join();
    if (request.action !== 'check') hosts.set(request.nodeName, macs);
    return answer(request);
  };
});

afterEach(() => bed[Symbol.asyncDispose]());

const idOf = (name: string) => `uuid-of-${name}`;
const macOf = (name: string) => `fa:16:3e:00:01:0${names.indexOf(name)}`;
const nicOf = (name: string) => entry(0, { macAddress: macOf(name) });
const untouched = (list: readonly string[]) =>
  list.filter((name) => hosts.get(name) === macOf(name));

async function join(name: string): Promise<void> {
  await bed.addNode(name, idOf(name));
  const machine = { machineID: `machine-${name}`, bootID: `boot-${name}` };
  await bed.setNode(name, { systemUUID: idOf(name), ...machine });
}

async function fleet(list: readonly string[] = names): Promise<void> {
  bed.run();
  for (const name of list) {
    await join(name);
    await bed.apply(name, { instanceId: idOf(name), interfaces: [nicOf(name)] });
  }
  for (const name of list) await bed.untilReady(name, good);
}

/** The node of each object is by mistake that of the next one. */
async function shift(list: readonly string[]): Promise<void> {
  for (const [at, name] of list.entries()) {
    const next = list[(at + 1) % list.length] ?? '';
    await bed.apply(name, { instanceId: idOf(next), interfaces: [nicOf(name)] });
  }
}

/** Nodes are deleted and come back, and something is edited in between. */
async function registerAnew(list: readonly string[], edit: () => Promise<void>): Promise<void> {
  for (const name of list) await bed.admin.delete(nodes, { name });
  await bed.pass(10);
  await edit();
  await bed.pass(10);
  for (const name of list) await join(name);
  await bed.pass(150);
}

describe('[C16] a deleted object', () => {
  it('does not clean a node that it means by mistake and that another object has', async () => {
    const list = ['a', 'b', 'c'];
    await fleet(list);
    await shift(list);
    for (const name of list) await bed.untilReady(name, held);
    await bed.delete('a');
    await bed.pass(100);
    expect(untouched(['b', 'c'])).toEqual(['b', 'c']);
  });

  it('does not clean the node of a mistyped object in whose place it was made', async () => {
    await fleet(['a', 'b']);
    await bed.apply('b', { instanceId: 'uuid-typo', interfaces: [nicOf('b')] });
    await bed.untilReady('b', 'False NodeNotFound');
    await bed.apply('x', { instanceId: idOf('b'), interfaces: [nicOf('f')] });
    await bed.untilReady('x', held);
    await bed.delete('x');
    await bed.pass(100);
    expect(untouched(['b'])).toEqual(['b']);
  });

  it.each(['before', 'after'])(
    'is asked about when its successor, made %s, has none of its NICs',
    async (order) => {
      await fleet();
      const make = async () => {
        for (const name of names) {
          const spec = { nodeName: name, instanceId: idOf(name), interfaces: [] };
          await bed.apply(`${name}-new`, spec);
        }
      };
      if (order === 'before') await make();
      for (const name of names) await bed.delete(name);
      if (order === 'after') await make();
      await bed.pass(150);
      expect(untouched(names)).toEqual(names);
    },
  );

  it('goes by a new value of allow-removals, and is not asked about again meanwhile', async () => {
    await fleet();
    for (const name of names) await bed.delete(name);
    for (const name of names) await bed.untilReady(name, held);
    const ref = { namespace: 'multinic-system', name: 'a' };
    const annotations = { 'multinic.io/allow-removals': 'now' };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
    await bed.untilGone('a');
    expect(untouched(names)).toEqual(names.slice(1));
  });

  it('[C8] waits for no Node that is there and not ready when its server is gone', async () => {
    await fleet(['a']);
    await bed.setReady('a', 'Unknown');
    const ref = { namespace: 'multinic-system', name: 'a' };
    const annotations = { 'multinic.io/delete-consent': `${bed.clock.now().toISOString()}!` };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
    await bed.delete('a');
    await bed.untilGone('a');
  });
});

describe('[C16] Nodes that register anew', () => {
  it('keep their NICs when the specs were emptied meanwhile', async () => {
    await fleet();
    await registerAnew(names, async () => {
      for (const name of names) await bed.apply(name, { instanceId: idOf(name), interfaces: [] });
    });
    expect(untouched(names)).toEqual(names);
  });

  it('keep their NICs when the instance ids were shifted meanwhile', async () => {
    const list = ['a', 'b', 'c'];
    await fleet(list);
    await registerAnew(list, () => shift(list));
    expect(untouched(list)).toEqual(list);
  });
});
