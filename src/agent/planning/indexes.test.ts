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

describe('assignIndexes', () => {
  test.each<[string, [number, number][], [number, number][], number[], (number | undefined)[]]>([
    [
      'new NICs get the requested indexes',
      [
        [1, 4],
        [2, 7],
      ],
      [],
      [],
      [4, 7],
    ],
    [
      'a managed NIC keeps the recorded index',
      [
        [1, 0],
        [2, 1],
      ],
      [[2, 0]],
      [],
      [1, 0],
    ],
    [
      'two NICs with swapped requests keep their recorded indexes',
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
    ["an unremoved NIC's index is not free", [[1, 0]], [], [0], [1]],
    [
      'a NIC with an occupied request gets the lowest free index',
      [
        [1, 5],
        [2, 0],
        [3, 1],
      ],
      [[3, 5]],
      [],
      [1, 0, 5],
    ],
  ])('[RW-23] assignIndexes: %s', (_, wanted, records, occupied, expected) => {
    expect(assigned(wanted, records, occupied)).toEqual(expected);
  });

  test('assignIndexes returns undefined when all ten indexes are taken', () => {
    const all = Array.from({ length: 10 }, (_, n) => n);
    expect(assigned([[1, 0]], [], all)).toEqual([undefined]);
  });
});
