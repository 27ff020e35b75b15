import { expect, it } from 'vitest';
import { postOverAfterMs } from '../api/node-configs-http.ts';
import { writeWithinMs } from './write-limit.ts';

it('what callers rely on is the time in which Viola writes, and 34 s in which an API server does', () => {
  expect(postOverAfterMs).toBe(writeWithinMs + 34_000);
});
