import { expect, it } from 'vitest';
import { labels } from '../../api/names.ts';
import { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Secret } from '../../kube/core-resources.ts';
import { createLogger } from '../../process/log.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { Clusters } from './clusters.ts';
import { type ReachOptions, reach } from './reach.ts';

type FakeClock = ReturnType<typeof createFakeClock>;
type Rights = NonNullable<ReachOptions['rights']>;

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

/** Returns the result of `reach` with this client, while the clock advances as given. */
async function reached(
  client: object,
  advance: (clock: FakeClock) => Promise<void>,
  rights?: Rights,
) {
  const clock = createFakeClock();
  const secrets = new Store<Secret>();
  secrets.upsert(registration);
  const log = createLogger({ part: 'test', level: 'silent' });
  await using clusters = new Clusters({
    secrets,
    log,
    listed: () => true,
    connect: () =>
      ({ [Symbol.asyncDispose]: async () => undefined, ...client }) as unknown as KubeClient,
  });
  const { signal } = new AbortController();
  const result = reach(clusters, 'biz-1', { clock, signal, rights });
  await advance(clock);
  return await result;
}

it('reach reports a hanging cluster as unreachable after 5 s, before the caller gives up', async () => {
  const requested = Promise.withResolvers<void>();
  const client = {
    version: async () => {
      requested.resolve();
      return new Promise(() => undefined);
    },
  };
  const result = await reached(client, async (clock) => {
    await requested.promise;
    await clock.advance(5000);
  });
  expect(result).toMatchObject({ reachable: false, message: 'no answer within 5 s' });
});

it('reach reads rights and networks in parallel, and hanging reads end after 5 s', async () => {
  const [rightsRead, networksRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const client = {
    version: async () => Promise.resolve({ gitVersion: 'v1.37.0' }),
    find: async () => {
      networksRead.resolve();
      return new Promise(() => undefined);
    },
  };
  const rights: Rights = {
    of: () => undefined,
    check: async () => {
      rightsRead.resolve();
      return new Promise(() => undefined);
    },
  };
  const advance = async (clock: FakeClock) => {
    await Promise.all([rightsRead.promise, networksRead.promise]);
    await clock.advance(5000);
  };
  const result = await reached(client, advance, rights);
  expect(result).toMatchObject({ reachable: true, message: 'Kubernetes v1.37.0' });
  expect(result).not.toHaveProperty('rights');
  expect(result).not.toHaveProperty('networks');
});
