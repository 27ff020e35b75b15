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
  ['a missing answer', failed(0, 'Timeout'), false, false],
  ['an unreadable answer', failed(0, 'InvalidAnswer'), false, false],
])(
  'retryAfter for %s retries an idempotent request: %o, another request: %o',
  (_, error, repeatable, otherwise) => {
    expect(retryAfter(error, first) !== undefined).toBe(repeatable);
    expect(retryAfter(error, { ...first, repeatable: false }) !== undefined).toBe(otherwise);
  },
);

test('retryAfter returns Retry-After, else a growing backoff', () => {
  expect(retryAfter(failed(429, '', 3_000), first)).toBe(3_000);
  const waits = [0, 1, 2].map((attempt) => retryAfter(failed(503), { ...first, attempt }));
  expect(waits).toEqual([250, 500, 1_000]);
});

test('retryAfter returns undefined after three retries, and for waits above 10 s', () => {
  expect(retryAfter(failed(429), { ...first, attempt: 3 })).toBeUndefined();
  expect(retryAfter(failed(429, '', 11_000), first)).toBeUndefined();
});
