import { expect, it } from 'vitest';
import { runLife, textOf } from './run-life.ts';

const isLong = process.env['MULTINIC_TEST_DEPTH'] === 'all';
/** Number of lives: a few in CI, and all that look for the mutants at full depth. */
const lives = Number(process.env['MULTINIC_REMOVAL_LIVES'] ?? (isLong ? 200 : 6));
const seeds = Array.from({ length: lives }, (_, n) => n + 1);

it.each(seeds)(
  'random acts of users, faults and time remove no NIC without a basis (seed %i)',
  async (seed) => {
    const result = await runLife(seed);
    expect(result.flaws, textOf(result)).toEqual([]);
  },
);
