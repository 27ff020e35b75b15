import { beforeEach, describe, expect, it } from 'vitest';
import { type Page, ReadMemory } from './read-memory.ts';

let memory: ReadMemory<string>;

beforeEach(() => {
  memory = new ReadMemory();
});

function nameOf(ids: readonly string[]): string {
  return ids.join(' ');
}

/** Reads the list for these ids, with `each` items per id. */
function read(ids: readonly string[], each = 5): void {
  const items = ids.flatMap((id) => Array.from({ length: each }, (_, at) => `${id} ${at}`));
  const page: Page<string> = { digest: 'd', items, next: undefined };
  memory.set(nameOf(ids), [page], ids);
}

function isInMemory(ids: readonly string[]): boolean {
  return memory.find(nameOf(ids), 0, 'd') !== undefined;
}

/** Returns the ids from `from` up to, but excluding, `to`. */
function span(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, at) => `id-${from + at}`);
}

describe('ReadMemory', () => {
  it.each([
    ['that has changed by one id at the front', span(1, 5), span(0, 4), 5],
    ['that has become longer', span(0, 4), span(0, 5), 5],
    ['that has become shorter', span(0, 5), span(2, 3), 5],
    ['that shares one id with it', span(0, 4), span(3, 7), 5],
    ['that has no items', span(1, 5), span(0, 4), 0],
  ])("a list's pages are dropped when its ids are read in a list %s", (_, before, after, each) => {
    read(before, each);
    read(['other'], each);
    read(after, each);
    expect([before, after, ['other']].map(isInMemory)).toEqual([false, true, true]);
  });

  it.each([5, 0])("a list's pages are dropped when none is read again (%i items each)", (each) => {
    read(span(0, 4), each);
    for (let round = 0; round < 100; round++) read(span(4, 8), each);
    expect([span(0, 4), span(4, 8)].map(isInMemory)).toEqual([false, true]);
  });

  it('100 lists with 10,000 ids and five items per id all stay in memory', () => {
    const lists = Array.from({ length: 100 }, (_, at) => span(at * 100, (at + 1) * 100));
    for (let round = 0; round < 2; round++) for (const list of lists) read(list);
    expect(lists.filter(isInMemory)).toHaveLength(100);
  });

  it('empty lists are evicted when each read has other ids', () => {
    const lists = Array.from({ length: 1_000 }, (_, at) => span(at * 100, (at + 1) * 100));
    for (const list of lists) read(list, 0);
    expect(lists.filter(isInMemory).length).toBeLessThan(700);
  });
});
