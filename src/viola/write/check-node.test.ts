import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postedNode as node, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { annotations } from '../../api/names.ts';

const kind = 'multinicnodeconfigs.multinic.io';
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

const check = (name: string, body: unknown, token = 'rw') =>
  bed.call('POST', `/${name}/check`, { token }, body);

describe('POST node-configs/{node}/check', () => {
  it.each([
    ['check', { id: 'a1' }, annotations.check],
    ['heal', { id: 'a1', heal: true }, annotations.heal],
  ])(
    'a request for %s sets one annotation, once, and nothing else',
    async (_, body, annotation) => {
      await bed.post([node]);
      const before = await bed.stored();
      const { status, body: answer } = await check('Worker_1', body);
      expect([status, answer]).toEqual([202, { uid: before.metadata.uid, generation: 1 }]);
      const after = await bed.stored();
      expect(after.metadata.annotations).toEqual({
        ...before.metadata.annotations,
        [annotation]: 'a1',
      });
      expect([after.spec, after.metadata.labels]).toEqual([before.spec, before.metadata.labels]);
      bed.writes.length = 0;
      expect((await check('Worker_1', body)).status).toBe(202);
      expect(bed.writes).toEqual([]);
    },
  );

  it('a POST after a check leaves the annotation unchanged', async () => {
    await bed.post([node]);
    await check('Worker_1', { id: 'a1' });
    await bed.post([{ ...node, interfaces: [] }]);
    expect((await bed.stored()).metadata.annotations?.[annotations.check]).toBe('a1');
  });

  it.each([
    ['an unknown node', 'Worker_9', { id: 'a' }, 'rw', 404],
    ['a read-only token', 'Worker_1', { id: 'a' }, 'ro', 403],
    ['a token for deletions', 'Worker_1', { id: 'a' }, 'd', 403],
    ["another cluster's token", 'Worker_1', { id: 'a' }, 'other', 403],
    ['an id that is too long', 'Worker_1', { id: 'a'.repeat(65) }, 'rw', 400],
    ['an unknown field', 'Worker_1', { id: 'a', force: true }, 'rw', 400],
  ])('a check with %s is refused and writes nothing', async (_, name, body, token, status) => {
    await bed.post([node]);
    bed.writes.length = 0;
    expect((await check(name, body, token)).status).toBe(status);
    expect(bed.writes).toEqual([]);
  });

  it('a check retries when the object was created again since the read', async () => {
    await bed.post([node]);
    bed.api.faults.answer({ verb: 'patch', resource: kind, status: 409 });
    expect((await check('Worker_1', { id: 'a1' })).status).toBe(202);
  });
});
