import { expect, it } from 'vitest';
import type { CallOptions, KubeClient } from '../../kube/client/client.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { answer, startScriptedServer } from '../../kube/testing/scripted-server.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { toProblem } from '../clusters/problem.ts';
import { readNode, readPage } from './read-nodes.ts';

it.each([
  ['a page', readAPage],
  ['one node', readOne],
])(
  'a hanging cluster is reported as ClusterUnreachable after 25 s when reading %s',
  async (_, read) => {
    const clock = createFakeClock();
    let given: AbortSignal | undefined;
    const hang = (signal: AbortSignal | undefined) => {
      given = signal;
      return new Promise(() => undefined);
    };
    const client = {
      list: (_resource: unknown, { signal }: CallOptions) => hang(signal),
      find: (_resource: unknown, _ref: unknown, { signal }: CallOptions) => hang(signal),
    } as unknown as KubeClient;
    const cluster = { client, namespace: 'n', providerId: 'biz-1', server: '' };
    const rejection = expect(read(cluster, clock).catch(toProblem)).rejects.toMatchObject({
      status: 503,
      code: 'ClusterUnreachable',
    });
    await clock.advance(25_000);
    await rejection;
    expect(given?.aborted).toBe(true);
  },
);

it('a page is limited to 250 node configs, below the response size limit', async () => {
  const object = {
    metadata: { name: 'node', note: 'x'.repeat(14_000) },
    spec: { nodeName: 'node' },
  };
  await using server = await startScriptedServer(({ query }, response) => {
    const items = Array.from({ length: Number(query.get('limit')) }, () => object);
    answer(response, 200, { metadata: { resourceVersion: '1', continue: 'more' }, items });
  });
  await using client = createKubeClient({ server: server.url }, { clock: systemClock });
  const cluster = { client, namespace: 'n', providerId: 'biz-1', server: server.url };
  const page = await readPage(cluster, { limit: 1_000 }, systemClock);
  expect(page.items.length).toBeGreaterThan(200);
  expect(page.continue).toBe('more');
  expect(server.requests).toHaveLength(1);
});

function readAPage(cluster: Cluster, clock: Clock): Promise<unknown> {
  return readPage(cluster, { limit: 10 }, clock);
}

function readOne(cluster: Cluster, clock: Clock): Promise<unknown> {
  return readNode(cluster, 'n1', { clock, signal: new AbortController().signal });
}
