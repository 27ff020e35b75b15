import { describe, expect, test } from 'vitest';
import { entry, macOf } from '../../../test/fixtures/agent-samples.ts';
import type { NicRecord } from '../state.ts';
import { assignIndexes } from './candidates.ts';

function record(n: number, index: number): [string, NicRecord] {
  const mac = macOf(n);
  const rest = { originalName: '', addresses: [], table: 100, priority: 10_100, files: [] };
  return [mac, { mac, index, ...rest }];
}

function assigned(
  wanted: [number, number][],
  records: [number, number][],
  occupied: number[] = [],
) {
  const entries = wanted.map(([n, index]) => entry(n, { index }));
  const known = new Map(records.map(([n, index]) => record(n, index)));
  const indexes = assignIndexes(entries, known, occupied);
  return wanted.map(([n]) => indexes.get(macOf(n)));
}

describe('indexes', () => {
  test.each<[string, [number, number][], [number, number][], number[], (number | undefined)[]]>([
    [
      'new NICs get what they ask for',
      [
        [1, 4],
        [2, 7],
      ],
      [],
      [],
      [4, 7],
    ],
    [
      'a live NIC keeps its own',
      [
        [1, 0],
        [2, 1],
      ],
      [[2, 0]],
      [],
      [1, 0],
    ],
    [
      'two that are swapped keep theirs',
      [
        [1, 1],
        [2, 0],
      ],
      [
        [1, 0],
        [2, 1],
      ],
      [],
      [0, 1],
    ],
    ['what a NIC that could not be removed has is not free', [[1, 0]], [], [0], [1]],
    [
      'the lowest free one takes its place',
      [
        [1, 5],
        [2, 0],
        [3, 1],
      ],
      [[3, 5]],
      [],
      [1, 0, 5],
    ],
  ])('[RW-23] %s', (_, wanted, records, occupied, expected) => {
    expect(assigned(wanted, records, occupied)).toEqual(expected);
  });

  test('there are ten', () => {
    const all = Array.from({ length: 10 }, (_, n) => n);
    expect(assigned([[1, 0]], [], all)).toEqual([undefined]);
  });
});
