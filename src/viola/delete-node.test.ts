import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode as node, ViolaFixture } from '../../test/fixtures/viola.ts';
import type { Effect } from '../api/effects.ts';
import { annotations } from '../api/names.ts';
import type { Base } from '../api/node-configs-http.ts';
import { systemClock } from '../time/clock.ts';
import { deleteNode } from './delete-node.ts';
import { nodeConfigs } from './node-config.ts';

const kind = 'multinicnodeconfigs.multinic.io';
const ref = { namespace, name: 'worker-1' };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

/** Deletes the node while something happens once before a write, the deletion unless told otherwise. */
function deleteWhile(
  base: Base | undefined,
  meanwhile: () => Promise<unknown>,
  before: Effect = 'viola.node-config.delete',
): Promise<Base> {
  let happened = false;
  const cluster = { client: bed.admin, namespace, providerId: 'biz-1', server: bed.api.url };
  return deleteNode(cluster, node.nodeName, base, {
    clock: systemClock,
    acceptUnfenced: false,
    signal: new AbortController().signal,
    perform: async (effect, write) => {
      if (effect === before && !happened) await meanwhile();
      happened ||= effect === before;
      return write();
    },
  });
}

/** The object moves so many times before it can be deleted. */
function moves(times: number): void {
  const conflict = { status: 409, reason: 'Conflict' };
  bed.api.faults.answer({ verb: 'delete', resource: kind, ...conflict, times });
}

/** What is answered when there is nothing to delete any more. */
const done = { status: 404, body: { code: 'NoSuchNode' } };

describe('DELETE node-configs', () => {
  it('stamps the consent before it deletes, and leaves the rest to the finalizer', async () => {
    await bed.post([node]);
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['multinic.io/cleanup'] } });
    const { status, body } = await bed.call('DELETE', '/Worker_1');
    const object = await bed.stored();
    expect(status).toBe(202);
    expect(body).toEqual({ uid: object.metadata.uid, generation: 1 });
    expect(object.metadata.deletionTimestamp).toBeDefined();
    expect(object.metadata.annotations).toHaveProperty([annotations.deleteConsent]);
    const writes = [...bed.writes];
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    expect(bed.writes).toEqual(writes);
    for (const interfaces of [[], node.interfaces]) {
      const { answer } = await bed.post([{ ...node, interfaces }]);
      expect(answer.errors).toMatchObject([{ code: 'Deleting' }]);
    }
  });

  it('[C8] says that the Node is not waited for only when the server is gone, afterwards too', async () => {
    await bed.post([node]);
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['multinic.io/cleanup'] } });
    const consent = async () =>
      (await bed.stored()).metadata.annotations?.[annotations.deleteConsent] ?? '';
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    expect(await consent()).toMatch(/Z$/);
    expect((await bed.call('DELETE', '/Worker_1?reason=server-gone')).status).toBe(202);
    expect(await consent()).toMatch(/Z!$/);
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    expect(await consent()).toMatch(/Z!$/);
    expect((await bed.call('DELETE', '/Worker_1?reason=because')).status).toBe(400);
  });

  it('refuses a base that has moved and answers 404 when it is done', async () => {
    await bed.post([{ ...node, base: null }]);
    expect((await bed.call('DELETE', '/Worker_1?uid=other&generation=1')).status).toBe(409);
    const { uid } = (await bed.stored()).metadata;
    expect((await bed.call('DELETE', `/Worker_1?uid=${uid}&generation=1`)).status).toBe(202);
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject(done);
  });

  it('consents to no other object of the name, not even to one that is being deleted', async () => {
    await bed.post([node]);
    const { uid } = (await bed.stored()).metadata;
    await bed.admin.delete(nodeConfigs, ref);
    await bed.post([node]);
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['multinic.io/cleanup'] } });
    await bed.admin.delete(nodeConfigs, ref);
    const { status, body } = await bed.call('DELETE', `/Worker_1?uid=${uid}&generation=1`);
    expect([status, body]).toEqual([409, expect.objectContaining({ code: 'StaleBase' })]);
    expect((await bed.stored()).metadata.annotations?.[annotations.deleteConsent]).toBeUndefined();
  });

  it('keeps a fenced object from callers that send no base, and takes no half of one', async () => {
    await bed.post([{ ...node, base: null }]);
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject({
      status: 409,
      body: { code: 'Fenced' },
    });
    expect((await bed.call('DELETE', '/Worker_1?uid=only')).status).toBe(400);
    expect((await bed.stored()).metadata.annotations).not.toHaveProperty([
      annotations.deleteConsent,
    ]);
  });

  it.each(['viola.node-config.consent', 'viola.node-config.delete'] as const)(
    'consents to and deletes only what its caller has seen: an edit before %s',
    async (effect) => {
      await bed.post([node]);
      const { metadata } = await bed.stored();
      const edit = () => bed.admin.patch(nodeConfigs, ref, { spec: { interfaces: [] } });
      const base = { uid: metadata.uid ?? '', generation: 1 };
      await expect(deleteWhile(base, edit, effect)).rejects.toMatchObject({ code: 'StaleBase' });
      const after = (await bed.stored()).metadata;
      expect(after.deletionTimestamp).toBeUndefined();
      const consented = after.annotations?.[annotations.deleteConsent] !== undefined;
      expect(consented).toBe(effect === 'viola.node-config.delete');
    },
  );

  it.each(['viola.node-config.consent', 'viola.node-config.delete'] as const)(
    'is done when the object goes meanwhile, before %s',
    async (effect) => {
      await bed.post([node]);
      const gone = deleteWhile(undefined, () => bed.admin.delete(nodeConfigs, ref), effect);
      await expect(gone).rejects.toMatchObject({ status: 404, code: 'NoSuchNode' });
    },
  );

  it('is done when the answer to its deletion gets lost', async () => {
    await bed.post([node]);
    bed.api.faults.lose({ verb: 'delete', resource: kind, when: 'after' });
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject(done);
  });

  it('says that the cluster cannot be reached, not that the object moves, when its kind is not served', async () => {
    await bed.post([node]);
    const notServed = { resource: kind, status: 404, reason: '' };
    bed.api.faults.answer({ verb: 'get', ...notServed, times: 5 });
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject({
      status: 503,
      body: { code: 'ClusterUnreachable' },
    });
  });

  it('tries five times on an object that moves all the time', async () => {
    await bed.post([node]);
    moves(4);
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    await bed.post([node]);
    moves(5);
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject({
      status: 409,
      body: { code: 'StaleBase' },
    });
  });

  it.each([
    ['long ago', -25 * 3_600_000, true],
    ['two hours ago, and not by us', -2 * 3_600_000, true],
    ['a moment ago', -60_000, false],
  ])('stamps anew when there is a consent of %s', async (_, ms, isStampedAnew) => {
    const at = new Date(Date.now() + ms).toISOString();
    await bed.post([node]);
    const before = { annotations: { [annotations.deleteConsent]: at } };
    const finalizers = ['multinic.io/cleanup'];
    await bed.admin.patch(nodeConfigs, ref, { metadata: { ...before, finalizers } });
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    const { metadata } = await bed.stored();
    expect(metadata.annotations?.[annotations.deleteConsent] !== at).toBe(isStampedAnew);
  });

  it('stamps an object anew that somebody deleted days after he agreed to that', async () => {
    await bed.post([node]);
    const before = { annotations: { [annotations.deleteConsent]: '2020-01-01T00:00:00Z' } };
    const finalizers = ['multinic.io/cleanup'];
    await bed.admin.patch(nodeConfigs, ref, { metadata: { ...before, finalizers } });
    await bed.admin.delete(nodeConfigs, ref);
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    const { metadata } = await bed.stored();
    const stamped = Date.parse(metadata.annotations?.[annotations.deleteConsent] ?? '');
    expect(stamped).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'));
    const writes = [...bed.writes];
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    expect(bed.writes).toEqual(writes);
  });

  it('decides anew when the object moves between consent and deletion', async () => {
    await bed.post([node]);
    moves(1);
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    await expect(bed.stored()).rejects.toThrow();
  });
});
