import { expect, test } from 'vitest';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { leases } from '../core-resources.ts';
import { answer, disposeAfterTest, startScriptedServer } from '../testing/scripted-server.ts';
import { createLeaseClient } from './lease-client.ts';

const ref = { namespace: 'ns', name: 'a' };

test('gives a connection up that hangs, for another one, while the lease can still be renewed', async () => {
  const server = await startScriptedServer((_, response) => {
    // The first one is never answered.
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

test('has one connection, so that a lease is not written in two ways at once', async () => {
  const server = await startScriptedServer((_, response) =>
    answer(response, 200, { metadata: ref }),
  );
  const clock = createFakeClock();
  const client = createLeaseClient({ server: server.url }, { clock, leaseDurationMs: 15_000 });
  disposeAfterTest(client, server);
  await Promise.all([1, 2, 3].map(() => client.find(leases, ref)));
  expect(server.connections).toBe(1);
});
