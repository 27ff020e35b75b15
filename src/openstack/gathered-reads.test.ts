import { beforeEach, expect, test } from 'vitest';
import { GatheredReads } from './gathered-reads.ts';
import type { Found } from './resources.ts';

interface Thing {
  readonly id: string;
}

let there: readonly string[];
let asked: string[];
let listFails: boolean;
let reads: GatheredReads<Thing>;

beforeEach(() => {
  there = ['a', 'b', 'c'];
  asked = [];
  listFails = false;
  reads = new GatheredReads<Thing>({
    one: async (id): Promise<Found<Thing>> => {
      asked.push(id);
      return there.includes(id) ? { kind: 'found', value: { id } } : { kind: 'notFound' };
    },
    several: async (ids) => {
      asked.push(ids.length > 9 ? `${ids.length} ids` : ids.join('+'));
      if (listFails) throw new Error('no list');
      return there
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
  ['one id by itself', ['a'], ['a'], ['a']],
  ['several in one list', ['a', 'b', 'c'], ['a', 'b', 'c'], ['a+b+c']],
  ['one that the list lacks by itself as well', ['a', 'x'], ['a', 'notFound'], ['a+x', 'x']],
  ['an id in upper case in the list', ['A', 'b'], ['a', 'b'], ['A+b']],
])('reads %s', async (_, ids, found, requests) => {
  expect(await read(...ids)).toEqual(found);
  expect(asked).toEqual(requests);
});

test('reads ids of another tick in another list', async () => {
  await read('a', 'b');
  await read('c');
  expect(asked).toEqual(['a+b', 'c']);
});

test('fails for each id that the list was for, and only for those', async () => {
  listFails = true;
  const outcomes = await Promise.allSettled([reads.read('a'), reads.read('b')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await read('c')).toEqual(['c']);
});

test('reads more ids than a URL holds in several lists', async () => {
  there = Array.from({ length: 150 }, (_, n) => `id-${n}`);
  expect(await read(...there)).toEqual(there);
  expect(asked).toEqual(['100 ids', '50 ids']);
});
