import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds, namespaces, nodes } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { nodeConfigs, type Stores } from '../objects/stores.ts';
import { createRemovalGuard } from './removal-guard.ts';

const good = 'True AllInterfacesConfigured';
const names = ['a', 'b', 'c', 'd', 'e'];
const consent = { 'multinic.io/delete-consent': '2026-01-01T00:00:00Z' };
let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

async function fleet(count = names.length): Promise<readonly string[]> {
  bed.run();
  const list = names.slice(0, count);
  for (const name of list) {
    await bed.addNode(name, `uuid-of-${name}`);
    await bed.apply(name, { instanceId: `uuid-of-${name}`, interfaces: [entry(0)] });
  }
  for (const name of list) await bed.untilReady(name, good);
  return list;
}

async function annotate(name: string, at = bed.clock.now().toISOString()): Promise<void> {
  const ref = { namespace: 'multinic-system', name };
  const annotations = { 'multinic.io/delete-consent': at };
  await bed.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
}

function cleaned(): number {
  return bed.agents.requests.filter(({ action }) => action === 'cleanup').length;
}

/** Full lists of Nodes that the controller has asked for. */
function lists(): number {
  return bed.api.audit.filter(({ user, verb, resource }) => {
    return user !== 'kubernetes-admin' && verb === 'list' && resource === 'nodes';
  }).length;
}

describe('deletions', () => {
  it('[RW-73] of many objects at once touch no node before somebody agrees', async () => {
    const list = await fleet();
    for (const name of list) await bed.delete(name);
    for (const name of list) await bed.untilReady(name, 'False RemovalHeld');
    await bed.pass(700);
    expect(cleaned()).toBe(0);
    await annotate('a');
    await bed.untilGone('a');
    expect(cleaned()).toBe(1);
    for (const name of list.slice(1)) await annotate(name);
    for (const name of list.slice(1)) await bed.untilGone(name);
    expect(cleaned()).toBe(5);
  });

  it('of many stay asked for when somebody agrees to most of them, for a new process too', async () => {
    const list = await fleet();
    for (const name of list) await bed.delete(name);
    for (const name of list) await bed.untilReady(name, 'False RemovalHeld');
    for (const name of ['a', 'b', 'c']) await annotate(name);
    for (const name of ['a', 'b', 'c']) await bed.untilGone(name);
    await bed.pass(700);
    expect(cleaned()).toBe(3);
    await bed.stop();
    bed.run();
    await bed.pass(700);
    expect(cleaned()).toBe(3);
    for (const name of ['d', 'e']) await bed.untilReady(name, 'False RemovalHeld');
  });

  it('with consent are carried out at once, however many they are', async () => {
    const list = await fleet();
    for (const name of list) await annotate(name);
    for (const name of list) await bed.delete(name);
    for (const name of list) await bed.untilGone(name);
    expect(cleaned()).toBe(5);
  });

  it.each([
    ['is of three days before', -3],
    ['is of a month later', 30],
    ['has no time', undefined],
  ])('[C17] are held when the consent %s', async (_about, days) => {
    const list = await fleet();
    const at =
      days === undefined
        ? 'yes'
        : new Date(bed.clock.now().getTime() + days * 86_400_000).toISOString();
    for (const name of list) await annotate(name, at);
    for (const name of list) await bed.delete(name);
    for (const name of list) await bed.untilReady(name, 'False RemovalHeld');
    await bed.pass(100);
    expect(cleaned()).toBe(0);
    await annotate('a');
    await bed.untilGone('a');
    expect(cleaned()).toBe(1);
  });

  it('[C17] are carried out by a consent that is given days later', async () => {
    const list = await fleet();
    for (const name of list) await bed.delete(name);
    for (const name of list) await bed.untilReady(name, 'False RemovalHeld');
    bed.clock.setWall(3 * 86_400_000);
    await annotate('a');
    await bed.untilGone('a');
    expect(cleaned()).toBe(1);
  });

  it('of a few objects are carried out without asking', async () => {
    await fleet();
    for (const name of names.slice(0, 3)) await bed.delete(name);
    for (const name of names.slice(0, 3)) await bed.untilGone(name);
    expect(cleaned()).toBe(3);
  });

  it('one after the other within a minute are many, too', async () => {
    await fleet();
    for (const name of names.slice(0, 3)) {
      await bed.delete(name);
      await bed.untilGone(name);
    }
    await bed.delete('d');
    await bed.untilReady('d', 'False RemovalHeld');
    expect(cleaned()).toBe(3);
  });

  it('of the kind itself touch no node, not even of a single object', async () => {
    await fleet(1);
    await bed.admin.delete(crds, { name: 'multinicnodeconfigs.multinic.io' });
    await bed.untilReady('a', 'False RemovalHeld');
    await bed.pass(100);
    expect(cleaned()).toBe(0);
  });

  it('of many are many also when somebody agrees to most of them at once', async () => {
    const { clock, guard } = guardWith({ gone: 0, there: 10 });
    const list = ['last', 'b', 'c', 'd'].map(leaving);
    for (const one of list)
      expect(await guard.askToDelete(one, signal)).toMatchObject({ kind: 'early' });
    const agreed = list.slice(1).map((one) => {
      return { ...one, metadata: { ...one.metadata, annotations: consent } };
    });
    for (const one of [...agreed, ...agreed]) {
      expect(await guard.askToDelete(one, signal)).toEqual({ kind: 'granted' });
    }
    for (const one of agreed) guard.gone(one);
    await clock.advance(5_000);
    expect(await guard.askToDelete(leaving('last'), signal)).toMatchObject({
      kind: 'asked',
      message: expect.stringMatching(/^4 of /) as string,
    });
  });

  it.each([
    ['namespace multinic-system', namespaces],
    ['the kind multinicnodeconfigs.multinic.io', crds],
  ])('of objects whose %s was forced out around them touch no node', async (what, kind) => {
    const find = async (asked: unknown) => (asked === kind ? undefined : { metadata: {} });
    const { clock, guard } = guardWith({ find, gone: 0, there: 1 });
    await guard.askToDelete(leaving('last'), signal);
    await clock.advance(5_000);
    expect(await guard.askToDelete(leaving('last'), signal)).toMatchObject({
      kind: 'asked',
      message: expect.stringContaining(`${what} is gone`) as string,
    });
  });

  it('of objects whose servers are gone are carried out at once, with few lists of nodes', async () => {
    const list = await fleet();
    for (const name of list) await bed.admin.delete(nodes, { name });
    for (const name of list) await bed.untilReady(name, 'False NodeNotFound');
    for (const name of list) await annotate(name, `${bed.clock.now().toISOString()}!`);
    const before = lists();
    await Promise.all(list.map((name) => bed.delete(name)));
    for (const name of list) await bed.untilGone(name);
    expect(lists() - before).toBeLessThan(list.length);
    expect(cleaned()).toBe(0);
  });

  it('that cannot be carried out are looked at now and then, not every second', async () => {
    await bed.addNode('a', 'uuid-x');
    await bed.addNode('clone', 'uuid-x');
    bed.run();
    await bed.apply('a', { instanceId: 'uuid-x', interfaces: [entry(0)] });
    await bed.untilReady('a', 'False DuplicateSystemUUID');
    await bed.delete('a');
    await bed.pass(20);
    const count = async (): Promise<number> => {
      const text = await bed.metrics.registry.metrics();
      return Number(/multinic_reconcile_total\{[^}]*\} (\d+)/.exec(text)?.[1]);
    };
    const before = await count();
    await bed.pass(600);
    expect((await count()) - before).toBeLessThanOrEqual(3);
  });
});

const deletionTimestamp = '2026-01-01T00:00:00Z';
const leaving = (name: string) =>
  nodeConfig({ metadata: { name, uid: `uid-of-${name}`, deletionTimestamp } });
const { signal } = new AbortController();

/** A guard that saw others go in the same second, while so many objects are there. */
function guardWith({
  find = async () => ({ metadata: {} }),
  gone,
  there,
}: {
  readonly find?: (kind: unknown) => Promise<unknown>;
  readonly gone: number;
  readonly there: number;
}) {
  const last = keyOf(leaving('last'));
  const stores = {
    configs: { size: there, get: () => undefined },
    leavingSince: (at: Date) => (at.getTime() === Date.parse(deletionTimestamp) ? [last] : []),
  } as unknown as Stores;
  const client = { find } as Pick<KubeClient, 'find'>;
  const clock = createFakeClock();
  const guard = createRemovalGuard({ client, stores, namespace: 'multinic-system', clock });
  for (let i = 0; i < gone; i++) guard.gone(leaving(`uid-${i}`));
  return { clock, guard };
}

/** What is said of one that leaves when others went in the same second, and so many are there with it. */
async function askedOf(world: { readonly gone: number; readonly there: number }) {
  return guardWith(world).guard.askToDelete(leaving('last'), signal);
}

describe('the share of objects that may go', () => {
  it('is waited for only where there are enough others', async () => {
    expect(await askedOf({ gone: 0, there: 3 })).toEqual({ kind: 'granted' });
    expect(await askedOf({ gone: 0, there: 4 })).toMatchObject({ kind: 'early' });
  });

  it('[C16] counts an object once that is deleted and made again and again', async () => {
    const { guard } = guardWith({ gone: 0, there: 4 });
    for (let life = 0; life < 5; life++) {
      const { metadata, ...rest } = leaving('last');
      guard.gone({ ...rest, metadata: { ...metadata, uid: `life-${life}` } });
    }
    expect(await guard.askToDelete(leaving('last'), signal)).toMatchObject({ kind: 'early' });
  });

  it('is a fifth of all there were: what went one by one is counted with what is left', async () => {
    expect(await askedOf({ gone: 4, there: 21 })).toEqual({ kind: 'early', forMs: 3_000 });
    expect(await askedOf({ gone: 4, there: 20 })).toMatchObject({
      kind: 'asked',
      message: expect.stringContaining('5 of 24 objects') as string,
    });
  });
});
