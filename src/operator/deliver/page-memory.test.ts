import { expect, it } from 'vitest';
import { PageMemory, type TaggedPage } from './page-memory.ts';

const page = (megabytes: number): TaggedPage => ({
  tag: 't',
  page: { items: [], observedAt: '' },
  size: megabytes * 1024 * 1024,
});

it('a memory of pages drops those that were used least recently at 8 MB', () => {
  const memory = new PageMemory();
  memory.set('a', page(3));
  memory.set('b', page(3));
  memory.set('b', page(3));
  expect(memory.get('a')).toBeDefined();
  memory.set('c', page(3));
  expect(['a', 'b', 'c'].map((key) => memory.get(key) !== undefined)).toEqual([true, false, true]);
  memory.set('d', page(9));
  expect(['a', 'c', 'd'].map((key) => memory.get(key) !== undefined)).toEqual([
    false,
    false,
    false,
  ]);
});
