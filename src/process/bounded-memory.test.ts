import { beforeEach, expect, it } from 'vitest';
import { BoundedMemory } from './bounded-memory.ts';

let memory: BoundedMemory<string>;

beforeEach(() => {
  memory = new BoundedMemory(10);
});

function stored(...keys: readonly string[]): readonly string[] {
  return keys.filter((key) => memory.peek(key) !== undefined);
}

it('a full BoundedMemory keeps entries in use and rejects new values', () => {
  for (let round = 0; round < 50; round++) for (const key of 'abc') memory.set(key, 'v', 4);
  expect(stored('a', 'b', 'c')).toEqual(['a', 'b']);
});

it('a full BoundedMemory evicts idle values for new ones', () => {
  memory.set('a', 'v', 4);
  for (let round = 0; round < 100; round++) for (const key of 'bc') memory.set(key, 'v', 4);
  expect(stored('a', 'b', 'c')).toEqual(['b', 'c']);
});

it('BoundedMemory removes a value that grows beyond the limit, including the old version', () => {
  memory.set('a', 'small', 4);
  memory.set('a', 'large', 11);
  expect(stored('a')).toEqual([]);
  memory.set('b', 'v', 10);
  expect(stored('b')).toEqual(['b']);
});
