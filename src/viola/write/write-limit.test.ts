import { expect, it } from 'vitest';
import { postOverAfterMs } from '../../api/node-configs-http.ts';
import { appliedWithinSeconds, writeWithinMs } from './write-limit.ts';

it("callers' limit postOverAfterMs equals Viola's write limit plus the API server's timeout", () => {
  expect(postOverAfterMs).toBe(writeWithinMs + appliedWithinSeconds * 1_000);
});

it("the API server's write timeout exceeds the default webhook timeout", () => {
  // Default timeoutSeconds for a webhook (admissionregistration.k8s.io/v1).
  const webhookSeconds = 10;
  expect(appliedWithinSeconds).toBeGreaterThan(webhookSeconds);
});
