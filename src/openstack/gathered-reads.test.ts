import { beforeEach, expect, test } from 'vitest';
import { GatheredReads } from './gathered-reads.ts';
import type { Found } from './resources.ts';

interface Thing {
  readonly id: string;
}

let existing: readonly string[];
let requested: string[];
let listFails: boolean;
let reads: GatheredReads<Thing>;

beforeEach(() => {
  existing = ['a', 'b', 'c'];
  requested = [];
  listFails = false;
  reads = new GatheredReads<Thing>({
    one: async (id): Promise<Found<Thing>> => {
      requested.push(id);
      return existing.includes(id) ? { kind: 'found', value: { id } } : { kind: 'notFound' };
    },
    several: async (ids) => {
      requested.push(ids.length > 9 ? `${ids.length} ids` : ids.join('+'));
      if (listFails) throw new Error('no list');
      return existing
        .filter((id) => ids.map((one) => one.toLowerCase()).includes(id))
        .map((id) => ({ id }));
    },
  });
});

const read = async (...ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const found = await reads.read(id);
      return found.kind === 'found' ? found.value.id : found.kind;
    }),
  );

test.each([
  ['a single id with one GET', ['a'], ['a'], ['a']],
  ['several ids with one list', ['a', 'b', 'c'], ['a', 'b', 'c'], ['a+b+c']],
  ['an id missing from the list with a GET', ['a', 'x'], ['a', 'notFound'], ['a+x', 'x']],
  ['an upper-case id from the list', ['A', 'b'], ['a', 'b'], ['A+b']],
])('GatheredReads reads %s', async (_, ids, found, requests) => {
  expect(await read(...ids)).toEqual(found);
  expect(requested).toEqual(requests);
});

test('ids requested in different ticks use separate lists', async () => {
  await read('a', 'b');
  await read('c');
  expect(requested).toEqual(['a+b', 'c']);
});

test('a failed list rejects only the reads for its own ids', async () => {
  listFails = true;
  const outcomes = await Promise.allSettled([reads.read('a'), reads.read('b')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await read('c')).toEqual(['c']);
});

test('150 ids are split into lists with at most 100 ids', async () => {
  existing = Array.from({ length: 150 }, (_, n) => `id-${n}`);
  expect(await read(...existing)).toEqual(existing);
  expect(requested).toEqual(['100 ids', '50 ids']);
});
