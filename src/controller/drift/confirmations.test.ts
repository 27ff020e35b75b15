import { expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { Applied } from '../jobs/applied.ts';
import { Confirmations } from './confirmations.ts';

const minute = 60_000;
const intervalMs = 15 * minute;
const applied = { job: 'job-1', checkedAt: '2026-01-01T00:00:00Z' } as Applied;

it.each<[string, number, number | undefined]>([
  ['a record younger than the interval decides alone', 14, undefined],
  ['a record of one interval waits another one', 15, 0],
  ['a record of 100 minutes waits the rest of its interval', 100, 10],
  ['a record of almost six hours waits the rest of its interval', 359, 14],
  ['a record of six hours is due now', 360, undefined],
])('the first check after a restart: %s', (_, recordMinutes, ageMinutes) => {
  const confirmations = new Confirmations(createFakeClock());
  confirmations.assume('a/b', applied, { recordMs: recordMinutes * minute, intervalMs });
  const known = confirmations.since('a/b', applied);
  expect(known?.ageMs).toBe(ageMinutes === undefined ? undefined : ageMinutes * minute);
});

it('a record that grows older than the interval in this process is due, not spread again', () => {
  const confirmations = new Confirmations(createFakeClock());
  for (const minutes of [1, 14, 16]) {
    confirmations.assume('a/b', applied, { recordMs: minutes * minute, intervalMs });
  }
  expect(confirmations.since('a/b', applied)).toBeUndefined();
});
