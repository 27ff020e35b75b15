import { expect, it } from 'vitest';
import { postOverAfterMs } from '../api/node-configs-http.ts';
import { appliedWithinSeconds, writeWithinMs } from './write-limit.ts';

it('what callers rely on is the time in which Viola writes, and that in which an API server has to', () => {
  expect(postOverAfterMs).toBe(writeWithinMs + appliedWithinSeconds * 1_000);
});

it('an API server has time to give up a webhook that hangs, and to write without it', () => {
  // timeoutSeconds of a webhook (admissionregistration.k8s.io/v1) when it names none.
  const webhookSeconds = 10;
  expect(appliedWithinSeconds).toBeGreaterThan(webhookSeconds);
});
