import { expect, it } from 'vitest';
import { isChange, planOf, withoutFaults } from './plan.ts';
import { runSeeds } from './run-seeds.ts';
import { Totals } from './totals.ts';

it('whatever fails on the way, a controller ends where it ends when nothing does', async () => {
  const totals = new Totals();
  await runSeeds(1, 25, totals, () => undefined);
  expect(totals.failures.join('\n\n')).toBe('');
});

it('is the same plan for the same seed', () => {
  expect(planOf(7)).toEqual(planOf(7));
  expect(planOf(8)).not.toEqual(planOf(7));
  expect(withoutFaults(planOf(7)).steps.every(isChange)).toBe(true);
});
