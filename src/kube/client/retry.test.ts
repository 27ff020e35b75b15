import { expect, test } from 'vitest';
import { KubeError } from '../errors.ts';
import { retryAfter } from './retry.ts';

const first = { attempt: 0, repeatable: true, random: () => 0.5 };

function failed(status: number, reason = '', retryAfterMs?: number): KubeError {
  return new KubeError({ status, reason, message: 'failed', retryAfterMs });
}

test.each([
  ['a 429', failed(429), true, true],
  ['a 502', failed(502), true, false],
  ['a 503', failed(503), true, false],
  ['a 504', failed(504), true, false],
  ['a lost connection', failed(0, 'Unreachable'), true, false],
  ['a 500', failed(500), false, false],
  ['a conflict', failed(409), false, false],
  ['a refusal', failed(403), false, false],
  ['an answer that never came', failed(0, 'Timeout'), false, false],
  ['an answer that cannot be read', failed(0, 'InvalidAnswer'), false, false],
])('%s is tried again: %o when it may happen twice, %o when not', (_, error, repeatable, once) => {
  expect(retryAfter(error, first) !== undefined).toBe(repeatable);
  expect(retryAfter(error, { ...first, repeatable: false }) !== undefined).toBe(once);
});

test('waits as long as the server asks, else with growing pauses', () => {
  expect(retryAfter(failed(429, '', 3_000), first)).toBe(3_000);
  const waits = [0, 1, 2].map((attempt) => retryAfter(failed(503), { ...first, attempt }));
  expect(waits).toEqual([250, 500, 1_000]);
});

test('gives up after three tries, and at once when the wait is longer than a worker should be held', () => {
  expect(retryAfter(failed(429), { ...first, attempt: 3 })).toBeUndefined();
  expect(retryAfter(failed(429, '', 11_000), first)).toBeUndefined();
});
