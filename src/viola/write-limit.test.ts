import { expect, it } from 'vitest';
import { postOverAfterMs } from '../api/node-configs-http.ts';
import { appliedWithinSeconds, writeWithinMs } from './write-limit.ts';

it('what callers rely on is the time in which Viola writes, and that in which an API server has to', () => {
  expect(postOverAfterMs).toBe(writeWithinMs + appliedWithinSeconds * 1_000);
});
