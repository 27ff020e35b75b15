import { expect, it } from 'vitest';
import type { KubeClient } from '../kube/client/client.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { toProblem } from './cluster-problem.ts';
import { readPage } from './read-nodes.ts';

it('says of a cluster that hangs that it does, while the caller still waits', async () => {
  const clock = createFakeClock();
  let given: AbortSignal | undefined;
  const hanging = {
    list: (_: unknown, { signal }: { signal?: AbortSignal }) => {
      given = signal;
      return new Promise(() => undefined);
    },
  } as unknown as KubeClient;
  const cluster = { client: hanging, namespace: 'n', providerId: 'biz-1', server: '' };
  const page = readPage(cluster, { limit: 10 }, clock).catch(toProblem);
  const told = expect(page).rejects.toMatchObject({ status: 503, code: 'ClusterUnreachable' });
  await clock.advance(25_000);
  await told;
  expect(given?.aborted).toBe(true);
});
