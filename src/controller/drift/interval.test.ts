import { expect, it } from 'vitest';
import { checkIntervalMs } from './interval.ts';

const minute = 60_000;

it.each<[string, number | undefined, number, number]>([
  ['15 minutes without nodes', undefined, 0, 15 * minute],
  ['15 minutes for 180 nodes', undefined, 180, 15 * minute],
  ['5 seconds per node for 181 nodes', undefined, 181, 181 * 5_000],
  ['83 minutes for 1,000 nodes', undefined, 1000, 83 * minute + 20_000],
  ['6 hours for 10,000 nodes', undefined, 10_000, 360 * minute],
  ['the setting for few nodes', 300_000, 1, 5 * minute],
  ['the setting for many nodes', 300_000, 10_000, 5 * minute],
])('checkIntervalMs returns %s', (_, setMs, nodes, expected) => {
  expect(checkIntervalMs(setMs, nodes)).toBe(expected);
});
