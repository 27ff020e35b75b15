import { expect, it } from 'vitest';
import type { CallOptions, KubeClient } from '../kube/client/client.ts';
import type { Clock } from '../time/clock.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { toProblem } from './cluster-problem.ts';
import type { Cluster } from './clusters.ts';
import { readNode, readPage } from './read-nodes.ts';

it.each([
  ['a page', readAPage],
  ['one node', readOne],
])(
  'says of a cluster that hangs that it does, while the caller still waits for %s',
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
    const told = expect(read(cluster, clock).catch(toProblem)).rejects.toMatchObject({
      status: 503,
      code: 'ClusterUnreachable',
    });
    await clock.advance(25_000);
    await told;
    expect(given?.aborted).toBe(true);
  },
);

function readAPage(cluster: Cluster, clock: Clock): Promise<unknown> {
  return readPage(cluster, { limit: 10 }, clock);
}

function readOne(cluster: Cluster, clock: Clock): Promise<unknown> {
  return readNode(cluster, 'n1', { clock, signal: new AbortController().signal });
}
