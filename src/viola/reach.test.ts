import { expect, it } from 'vitest';
import { labels } from '../api/names.ts';
import { Store } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { Secret } from '../kube/core-resources.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { Clusters } from './clusters.ts';
import { reach } from './reach.ts';

const text = (value: string) => Buffer.from(value).toString('base64');
const registration: Secret = {
  metadata: {
    name: 'biz',
    namespace: 'multinic-clusters',
    resourceVersion: '1',
    labels: { [labels.providerId]: 'biz-1' },
  },
  data: { server: text('https://biz.example:6443'), token: text('t') },
};

it('reach reports a hanging cluster as unreachable after 5 s, before the caller gives up', async () => {
  const clock = createFakeClock();
  const secrets = new Store<Secret>();
  secrets.upsert(registration);
  const requested = Promise.withResolvers<void>();
  const hanging = {
    version: () => {
      requested.resolve();
      return new Promise(() => undefined);
    },
    [Symbol.asyncDispose]: async () => undefined,
  } as unknown as KubeClient;
  const log = createLogger({ part: 'test', level: 'silent' });
  await using clusters = new Clusters({
    secrets,
    log,
    listed: () => true,
    connect: () => hanging,
  });
  const { signal } = new AbortController();
  const reached = reach(clusters, 'biz-1', { clock, signal });
  await requested.promise;
  await clock.advance(5000);
  expect(await reached).toMatchObject({ reachable: false, message: 'no answer within 5 s' });
});
