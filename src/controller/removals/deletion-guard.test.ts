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
let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function fleet(count = names.length): Promise<readonly string[]> {
  fixture.run();
  const list = names.slice(0, count);
  for (const name of list) {
    await fixture.addNode(name, `uuid-of-${name}`);
    await fixture.apply(name, { instanceId: `uuid-of-${name}`, interfaces: [entry(0)] });
  }
  for (const name of list) await fixture.untilReady(name, good);
  return list;
}

async function annotate(name: string, at = fixture.clock.now().toISOString()): Promise<void> {
  const ref = { namespace: 'multinic-system', name };
  const annotations = { 'multinic.io/delete-consent': at };
  await fixture.admin.patch(nodeConfigs, ref, { metadata: { annotations } });
}

function cleaned(): number {
  return fixture.agents.requests.filter(({ action }) => action === 'cleanup').length;
}

/** Returns the number of full Node lists requested by the controller. */
function lists(): number {
  return fixture.api.audit.filter(({ user, verb, resource }) => {
    return user !== 'kubernetes-admin' && verb === 'list' && resource === 'nodes';
  }).length;
}

describe('deletions', () => {
  it('[RW-73] deleting many objects at once cleans no node without consent', async () => {
    const list = await fleet();
    for (const name of list) await fixture.delete(name);
    for (const name of list) await fixture.untilReady(name, 'False RemovalHeld');
    await fixture.pass(700);
    expect(cleaned()).toBe(0);
    await annotate('a');
    await fixture.untilGone('a');
    expect(cleaned()).toBe(1);
    for (const name of list.slice(1)) await annotate(name);
    for (const name of list.slice(1)) await fixture.untilGone(name);
    expect(cleaned()).toBe(5);
  });

  it('remaining mass deletions stay held after consent for most, and across a restart', async () => {
    const list = await fleet();
    for (const name of list) await fixture.delete(name);
    for (const name of list) await fixture.untilReady(name, 'False RemovalHeld');
    for (const name of ['a', 'b', 'c']) await annotate(name);
    for (const name of ['a', 'b', 'c']) await fixture.untilGone(name);
    await fixture.pass(700);
    expect(cleaned()).toBe(3);
    await fixture.stop();
    fixture.run();
    await fixture.pass(700);
    expect(cleaned()).toBe(3);
    for (const name of ['d', 'e']) await fixture.untilReady(name, 'False RemovalHeld');
  });

  it('deleting many objects with consent cleans all nodes at once', async () => {
    const list = await fleet();
    for (const name of list) await annotate(name);
    for (const name of list) await fixture.delete(name);
    for (const name of list) await fixture.untilGone(name);
    expect(cleaned()).toBe(5);
  });

  it.each([
    ['is three days old', -3],
    ['is a month in the future', 30],
    ['has no time', undefined],
  ])('[C17] a mass deletion is held when the consent %s', async (_about, days) => {
    const list = await fleet();
    const at =
      days === undefined
        ? 'yes'
        : new Date(fixture.clock.now().getTime() + days * 86_400_000).toISOString();
    for (const name of list) await annotate(name, at);
    for (const name of list) await fixture.delete(name);
    for (const name of list) await fixture.untilReady(name, 'False RemovalHeld');
    await fixture.pass(100);
    expect(cleaned()).toBe(0);
    await annotate('a');
    await fixture.untilGone('a');
    expect(cleaned()).toBe(1);
  });

  it('[C17] a mass deletion proceeds with consent given days later', async () => {
    const list = await fleet();
    for (const name of list) await fixture.delete(name);
    for (const name of list) await fixture.untilReady(name, 'False RemovalHeld');
    fixture.clock.setWall(3 * 86_400_000);
    await annotate('a');
    await fixture.untilGone('a');
    expect(cleaned()).toBe(1);
  });

  it('deleting three objects proceeds without consent', async () => {
    await fleet();
    for (const name of names.slice(0, 3)) await fixture.delete(name);
    for (const name of names.slice(0, 3)) await fixture.untilGone(name);
    expect(cleaned()).toBe(3);
  });

  it('deletions one after another within a minute count together', async () => {
    await fleet();
    for (const name of names.slice(0, 3)) {
      await fixture.delete(name);
      await fixture.untilGone(name);
    }
    await fixture.delete('d');
    await fixture.untilReady('d', 'False RemovalHeld');
    expect(cleaned()).toBe(3);
  });

  it('deleting the CRD cleans no node, even with a single object', async () => {
    await fleet(1);
    await fixture.admin.delete(crds, { name: 'multinicnodeconfigs.multinic.io' });
    await fixture.untilReady('a', 'False RemovalHeld');
    await fixture.pass(100);
    expect(cleaned()).toBe(0);
  });

  it('mass deletion still counts as many after simultaneous consent for most', async () => {
    const { clock, guard } = guardWith({ gone: 0, there: 10 });
    const list = ['last', 'b', 'c', 'd'].map(leaving);
    for (const one of list)
      expect(await guard.consentToDelete(one, signal)).toMatchObject({ kind: 'early' });
    const agreed = list.slice(1).map((one) => {
      return { ...one, metadata: { ...one.metadata, annotations: consent } };
    });
    for (const one of [...agreed, ...agreed]) {
      expect(await guard.consentToDelete(one, signal)).toEqual({ kind: 'granted' });
    }
    for (const one of agreed) guard.gone(one);
    await clock.advance(5_000);
    expect(await guard.consentToDelete(leaving('last'), signal)).toMatchObject({
      kind: 'asked',
      message: expect.stringMatching(/^4 of /) as string,
    });
  });

  it.each([
    ['namespace multinic-system', namespaces],
    ['CRD multinicnodeconfigs.multinic.io', crds],
  ])('objects whose %s was removed by force are held', async (what, kind) => {
    const find = async (asked: unknown) => (asked === kind ? undefined : { metadata: {} });
    const { clock, guard } = guardWith({ find, gone: 0, there: 1 });
    await guard.consentToDelete(leaving('last'), signal);
    await clock.advance(5_000);
    expect(await guard.consentToDelete(leaving('last'), signal)).toMatchObject({
      kind: 'asked',
      message: expect.stringContaining(`${what} no longer exists`) as string,
    });
  });

  it('objects whose servers are gone are released at once, with fewer Node lists than objects', async () => {
    const list = await fleet();
    for (const name of list) await fixture.admin.delete(nodes, { name });
    for (const name of list) await fixture.untilReady(name, 'False NodeNotFound');
    for (const name of list) await annotate(name, `${fixture.clock.now().toISOString()}!`);
    const before = lists();
    await Promise.all(list.map((name) => fixture.delete(name)));
    for (const name of list) await fixture.untilGone(name);
    expect(lists() - before).toBeLessThan(list.length);
    expect(cleaned()).toBe(0);
  });

  it('a blocked deletion is requeued about every 30 s, not every second', async () => {
    await fixture.addNode('a', 'uuid-x');
    await fixture.addNode('clone', 'uuid-x');
    fixture.run();
    await fixture.apply('a', { instanceId: 'uuid-x', interfaces: [entry(0)] });
    await fixture.untilReady('a', 'False DuplicateSystemUUID');
    await fixture.delete('a');
    await fixture.pass(20);
    const count = async (): Promise<number> => {
      const text = await fixture.metrics.registry.metrics();
      return Number(/multinic_reconcile_total\{[^}]*\} (\d+)/.exec(text)?.[1]);
    };
    const before = await count();
    await fixture.pass(600);
    expect((await count()) - before).toBeLessThanOrEqual(3);
  });
});

const deletionTimestamp = '2026-01-01T00:00:00Z';
const leaving = (name: string) =>
  nodeConfig({ metadata: { name, uid: `uid-of-${name}`, deletionTimestamp } });
const { signal } = new AbortController();

/** Returns a guard that has released `gone` objects in the same second, with `there` objects in the store. */
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

/** Returns the guard's answer for one deletion in this situation. */
async function askedOf(world: { readonly gone: number; readonly there: number }) {
  return guardWith(world).guard.consentToDelete(leaving('last'), signal);
}

describe('the share of objects that may be deleted', () => {
  it('a deletion waits for simultaneous deletions only in clusters above three objects', async () => {
    expect(await askedOf({ gone: 0, there: 3 })).toEqual({ kind: 'granted' });
    expect(await askedOf({ gone: 0, there: 4 })).toMatchObject({ kind: 'early' });
  });

  it('[C16] an object deleted and recreated repeatedly counts once', async () => {
    const { guard } = guardWith({ gone: 0, there: 4 });
    for (let life = 0; life < 5; life++) {
      const { metadata, ...rest } = leaving('last');
      guard.gone({ ...rest, metadata: { ...metadata, uid: `life-${life}` } });
    }
    expect(await guard.consentToDelete(leaving('last'), signal)).toMatchObject({ kind: 'early' });
  });

  it('the limit is 20 % including objects already released', async () => {
    expect(await askedOf({ gone: 4, there: 21 })).toEqual({ kind: 'early', forMs: 3_000 });
    expect(await askedOf({ gone: 4, there: 20 })).toMatchObject({
      kind: 'asked',
      message: expect.stringContaining('5 of 24 objects') as string,
    });
  });
});
