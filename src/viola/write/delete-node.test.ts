import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode as node, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { deletionBasis, endsWaitForNode } from '../../api/delete-consent.ts';
import type { Effect } from '../../api/effects.ts';
import { annotations } from '../../api/names.ts';
import type { Base, DeleteBasis } from '../../api/node-configs-http.ts';
import { removalConsentOf } from '../../api/removal-consent.ts';
import { systemClock } from '../../time/clock.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { deleteNode } from './delete-node.ts';

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
  basis: DeleteBasis = 'consent',
): Promise<Base> {
  let happened = false;
  const cluster = { client: bed.admin, namespace, providerId: 'biz-1', server: bed.api.url };
  return deleteNode(cluster, node.nodeName, base, {
    clock: systemClock,
    acceptUnfenced: false,
    basis,
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

/** Creates the object with the controller's finalizer. */
async function finalized(): Promise<void> {
  await bed.post([node]);
  await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['multinic.io/cleanup'] } });
}

async function annotate(name: string, value: string): Promise<void> {
  await bed.admin.patch(nodeConfigs, ref, { metadata: { annotations: { [name]: value } } });
}

/** Returns the stamped basis, with the mark `!`; `-`: none. Evidence proves `macs`. */
async function stamps(macs = ['fa:16:3e:00:00:01']): Promise<string> {
  const { metadata, spec } = await bed.stored();
  const { deletionTimestamp = '' } = metadata;
  const basis = deletionBasis(metadata, spec.specHash, new Date(deletionTimestamp), new Date());
  if (basis === 'named') return '-';
  const { proven } = removalConsentOf(metadata, spec.specHash) ?? {};
  expect(proven).toEqual(basis === 'evidence' ? macs : undefined);
  return `${basis}${endsWaitForNode(metadata) ? '!' : ''}`;
}

/** Answer for a node without object. */
const done = { status: 404, body: { code: 'NoSuchNode' } };

describe('DELETE node-configs', () => {
  it('DELETE leaves the cleanup to the finalizer', async () => {
    await finalized();
    const { status, body } = await bed.call('DELETE', '/Worker_1');
    const object = await bed.stored();
    expect(status).toBe(202);
    expect(body).toEqual({ uid: object.metadata.uid, generation: 1 });
    expect(object.metadata.deletionTimestamp).toBeDefined();
    for (const interfaces of [[], node.interfaces]) {
      const { answer } = await bed.post([{ ...node, interfaces }]);
      expect(answer.errors).toMatchObject([{ code: 'Deleting' }]);
    }
  });

  it.each<[queries: readonly string[], wanted: string]>([
    [[''], '-'],
    [['basis=named'], '-'],
    [['basis=consent'], 'consent'],
    [['basis=evidence'], 'evidence'],
    [['reason=server-gone'], 'evidence!'],
    [['basis=named&reason=server-gone'], 'evidence!'],
    [['basis=named', 'basis=evidence'], 'evidence'],
    [['basis=evidence', 'reason=server-gone'], 'evidence!'],
    [['reason=server-gone', 'basis=evidence'], 'evidence!'],
    [['reason=server-gone', 'basis=consent'], 'consent!'],
    [['basis=consent', 'basis=evidence'], 'consent'],
    [['basis=consent', 'reason=server-gone'], 'consent!'],
    [['basis=consent', 'basis=named'], 'consent'],
  ])('[C8] DELETE with %j stamps %s, and repeated nothing more', async (queries, wanted) => {
    await finalized();
    const consent = { uid: 'earlier', spec: 'h', at: new Date(0), proven: [], consented: [] };
    await annotate(annotations.removalConsent, JSON.stringify(consent));
    for (const query of queries) {
      expect((await bed.call('DELETE', `/Worker_1?${query}`)).status).toBe(202);
    }
    expect(await stamps()).toBe(wanted);
    const writes = [...bed.writes];
    expect((await bed.call('DELETE', `/Worker_1?${queries.at(-1)}`)).status).toBe(202);
    expect(bed.writes).toEqual(writes);
  });

  it.each([
    ['basis=because', 'basis', '"because" is unknown: send evidence, consent, named or'],
    ['reason=because', 'reason', '"because" is unknown: send server-gone or'],
    ['uid=only', 'generation', 'send both, or neither'],
  ])('DELETE names field, value and advice when the query is %s', async (query, field, message) => {
    const { status, body } = await bed.call('DELETE', `/Worker_1?${query}`);
    const error = { field, message: expect.stringContaining(message) as string };
    expect([status, body]).toMatchObject([400, { errors: [error] }]);
  });

  it.each([
    ['reason=server-gone', ['fa:16:3e:00:00:01', 'fa:16:3e:00:00:09']],
    ['basis=evidence', ['fa:16:3e:00:00:01']],
  ])('DELETE with %s proves %j when the agent reports a further NIC', async (query, macs) => {
    await finalized();
    await bed.call('DELETE', '/Worker_1?reason=server-gone');
    const { uid } = (await bed.stored()).metadata;
    const knownInterfaces = [{ id: 1, macAddress: 'FA:16:3E:00:00:09' }];
    const status = { knownInterfaces, applied: { objectUid: uid } };
    await bed.admin.patchStatus(nodeConfigs, ref, { status });
    await bed.call('DELETE', `/Worker_1?${query}`);
    expect(await stamps(macs)).toBe('evidence!');
  });

  it('DELETE by evidence proves no held NIC without entry in the spec', async () => {
    await finalized();
    const { uid = '' } = (await bed.stored()).metadata;
    const mac = 'fa:16:3e:00:00:09';
    const status = {
      heldRemovals: { code: 'SideEffect', macs: [mac], uid, generation: 1 },
      applied: { objectUid: uid, requested: [], knownFrom: { uid, job: 'j' } },
      knownInterfaces: [{ id: 5, macAddress: mac }],
    };
    await bed.admin.patchStatus(nodeConfigs, ref, { status });
    await bed.call('DELETE', '/Worker_1?basis=evidence');
    expect(await stamps()).toBe('evidence');
  });

  it('a POST after a failed DELETE replaces the stamped evidence', async () => {
    await bed.post([{ ...node, base: null }]);
    const { uid = '' } = (await bed.stored()).metadata;
    const edit = () =>
      bed.admin.patch(nodeConfigs, ref, { spec: { interfaces: [] } }, { fieldManager: 'viola' });
    const failed = deleteWhile({ uid, generation: 1 }, edit, undefined, 'evidence');
    await expect(failed).rejects.toMatchObject({ code: 'StaleBase' });
    const removals = { proven: [], consented: ['fa:16:3e:00:00:09'] };
    const { answer } = await bed.post([{ ...node, base: { uid, generation: 2 }, removals }]);
    expect(answer.errors).toEqual([]);
    const { metadata } = await bed.stored();
    expect(metadata.annotations?.[annotations.removalConsent]).toContain('00:09');
  });

  it('DELETE refuses a stale base and answers 404 after the deletion', async () => {
    await bed.post([{ ...node, base: null }]);
    expect((await bed.call('DELETE', '/Worker_1?uid=other&generation=1')).status).toBe(409);
    const { uid } = (await bed.stored()).metadata;
    expect((await bed.call('DELETE', `/Worker_1?uid=${uid}&generation=1`)).status).toBe(202);
    expect(await bed.call('DELETE', '/Worker_1')).toMatchObject(done);
  });

  it('DELETE for a former owner leaves a node taken over by another OpenstackConfig unchanged', async () => {
    const source = { namespace: 'team-b', name: 'renamed', uid: 'new-uid', generation: 1 };
    await bed.post([{ ...node, source }]);
    const { uid, generation } = (await bed.stored()).metadata;
    const path = `/Worker_1?uid=${uid}&generation=${generation}`;
    const refused = await bed.call('DELETE', `${path}&sourceUid=former-uid&basis=consent`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'StaleBase' } });
    expect(JSON.stringify(refused.body)).toContain('team-b/renamed');
    const { metadata } = await bed.stored();
    expect(metadata.annotations?.[annotations.deleteConsent]).toBeUndefined();
    expect((await bed.call('DELETE', `${path}&sourceUid=new-uid`)).status).toBe(202);
  });

  it('DELETE stamps no consent on another object with the same name, even during its deletion', async () => {
    await bed.post([node]);
    const { uid } = (await bed.stored()).metadata;
    await bed.admin.delete(nodeConfigs, ref);
    await bed.post([node]);
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: ['multinic.io/cleanup'] } });
    await bed.admin.delete(nodeConfigs, ref);
    const { status, body } = await bed.call(
      'DELETE',
      `/Worker_1?basis=consent&uid=${uid}&generation=1`,
    );
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
    expect((await bed.call('DELETE', '/Worker_1?basis=consent')).status).toBe(202);
    const { metadata } = await bed.stored();
    expect(metadata.annotations?.[annotations.deleteConsent] !== at).toBe(isRenewed);
  });

  it('DELETE leaves an old consent as it is when its basis is named', async () => {
    await finalized();
    await annotate(annotations.deleteConsent, '2020-01-01T00:00:00Z');
    await bed.call('DELETE', '/Worker_1');
    expect(await stamps()).toBe('-');
  });

  it('DELETE renews an old consent on an object that is already being deleted', async () => {
    await bed.post([node]);
    const before = { annotations: { [annotations.deleteConsent]: '2020-01-01T00:00:00Z' } };
    const finalizers = ['multinic.io/cleanup'];
    await bed.admin.patch(nodeConfigs, ref, { metadata: { ...before, finalizers } });
    await bed.admin.delete(nodeConfigs, ref);
    expect((await bed.call('DELETE', '/Worker_1?basis=consent')).status).toBe(202);
    const { metadata } = await bed.stored();
    const stamped = Date.parse(metadata.annotations?.[annotations.deleteConsent] ?? '');
    expect(stamped).toBeGreaterThan(Date.parse('2026-01-01T00:00:00Z'));
    const writes = [...bed.writes];
    expect((await bed.call('DELETE', '/Worker_1?basis=consent')).status).toBe(202);
    expect(bed.writes).toEqual(writes);
  });

  it('DELETE retries when the object changes between consent and deletion', async () => {
    await bed.post([node]);
    moves(1);
    expect((await bed.call('DELETE', '/Worker_1?basis=consent')).status).toBe(202);
    await expect(bed.stored()).rejects.toThrow();
  });
});
