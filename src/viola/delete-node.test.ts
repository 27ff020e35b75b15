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

/** Deletes the node and runs `meanwhile` once before a write, by default before the deletion. */
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

/** Lets the next `times` deletions fail with a conflict. */
function moves(times: number): void {
  const conflict = { status: 409, reason: 'Conflict' };
  bed.api.faults.answer({ verb: 'delete', resource: kind, ...conflict, times });
}

/** Answer for a node without object. */
const done = { status: 404, body: { code: 'NoSuchNode' } };

describe('DELETE node-configs', () => {
  it('DELETE stamps consent before the deletion and leaves the cleanup to the finalizer', async () => {
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

  it('[C8] consent skips the wait for the Node only with reason server-gone, also in a later DELETE', async () => {
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

  it('DELETE refuses a stale base and answers 404 after the deletion', async () => {
    await bed.post([{ ...node, base: null }]);
    expect((await bed.call('DELETE', '/Worker_1?uid=other&generation=1')).status).toBe(409);
    const { uid } = (await bed.stored()).metadata;
    expect((await bed.call('DELETE', `/Worker_1?uid=${uid}&generation=1`)).status).toBe(202);
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject(done);
  });

  it('DELETE stamps no consent on another object with the same name, even during its deletion', async () => {
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

  it('DELETE without base is refused for a fenced object, and a base without generation is invalid', async () => {
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
    'DELETE refuses an object that was edited before %s',
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
    'DELETE answers 404 when the object is deleted before %s',
    async (effect) => {
      await bed.post([node]);
      const gone = deleteWhile(undefined, () => bed.admin.delete(nodeConfigs, ref), effect);
      await expect(gone).rejects.toMatchObject({ status: 404, code: 'NoSuchNode' });
    },
  );

  it('DELETE answers 404 when the reply to the deletion is lost', async () => {
    await bed.post([node]);
    bed.api.faults.lose({ verb: 'delete', resource: kind, when: 'after' });
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject(done);
  });

  it('DELETE answers ClusterUnreachable when the API server does not serve the kind', async () => {
    await bed.post([node]);
    const notServed = { resource: kind, status: 404, reason: '' };
    bed.api.faults.answer({ verb: 'get', ...notServed, times: 5 });
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject({
      status: 503,
      body: { code: 'ClusterUnreachable' },
    });
  });

  it('DELETE gives up with StaleBase after five conflicts', async () => {
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
    ['two hours ago, from another writer', -2 * 3_600_000, true],
    ['a moment ago', -60_000, false],
  ])('DELETE renews a consent from %s (%i ms): %s', async (_, ms, isRenewed) => {
    const at = new Date(Date.now() + ms).toISOString();
    await bed.post([node]);
    const before = { annotations: { [annotations.deleteConsent]: at } };
    const finalizers = ['multinic.io/cleanup'];
    await bed.admin.patch(nodeConfigs, ref, { metadata: { ...before, finalizers } });
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    const { metadata } = await bed.stored();
    expect(metadata.annotations?.[annotations.deleteConsent] !== at).toBe(isRenewed);
  });

  it('DELETE renews an old consent on an object that is already being deleted', async () => {
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

  it('DELETE retries when the object changes between consent and deletion', async () => {
    await bed.post([node]);
    moves(1);
    expect((await bed.call('DELETE', '/Worker_1')).status).toBe(202);
    await expect(bed.stored()).rejects.toThrow();
  });
});
