import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('backoffMs doubles from the base up to the cap', () => {
  const waits = [0, 1, 2, 3, 4, 99].map((attempt) =>
    backoffMs(attempt, { baseMs: 100, maxMs: 1_000 }, () => 0.5),
  );
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test('backoffMs adds jitter between -20 and +20 per cent', () => {
  const options = { baseMs: 100, maxMs: 100 };
  expect(backoffMs(0, options, () => 0)).toBeCloseTo(80);
  expect(backoffMs(0, options, () => 1)).toBeCloseTo(120);
});
