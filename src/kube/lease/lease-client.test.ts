import { expect, test } from 'vitest';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { leases } from '../core-resources.ts';
import { answer, disposeAfterTest, startScriptedServer } from '../testing/scripted-server.ts';
import { createLeaseClient } from './lease-client.ts';

const ref = { namespace: 'ns', name: 'a' };

test('a hanging lease request times out in time for a retry on another connection', async () => {
  const server = await startScriptedServer((_, response) => {
    // The first request is never answered.
    if (server.requests.length > 1) answer(response, 200, { metadata: ref });
  });
  const clock = createFakeClock();
  const client = createLeaseClient({ server: server.url }, { clock, leaseDurationMs: 15_000 });
  disposeAfterTest(client, server);
  let failed: unknown;
  const first = client.find(leases, ref).catch((error: unknown) => (failed = error));
  await until('a request', () => server.requests.length === 1);
  await clock.advance(5_000);
  expect(failed).toMatchObject({ reason: 'Timeout' });
  expect((await client.find(leases, ref))?.metadata.name).toBe('a');
  expect(server.connections).toBe(2);
  await first;
});

test('the lease client uses one connection: concurrent requests never write the lease twice', async () => {
  const server = await startScriptedServer((_, response) =>
    answer(response, 200, { metadata: ref }),
  );
  const clock = createFakeClock();
  const client = createLeaseClient({ server: server.url }, { clock, leaseDurationMs: 15_000 });
  disposeAfterTest(client, server);
  await Promise.all([1, 2, 3].map(() => client.find(leases, ref)));
  expect(server.connections).toBe(1);
});
