import { expect, it } from 'vitest';
import { runLife, textOf } from './run-life.ts';

const isLong = process.env['MULTINIC_TEST_DEPTH'] === 'all';
/** Number of lives: some in CI, and all that look for the mutants at full depth. */
const lives = isLong ? 400 : 40;

it('renames, new ports, second ids and strangers remove no NIC, and change no owner and no name', async () => {
  for (let seed = 1; seed <= lives; seed++) {
    const result = await runLife(seed);
    expect(result.flaws, textOf(result)).toEqual([]);
  }
});
