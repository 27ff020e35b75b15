import { describe, expect, it } from 'vitest';
import { Store } from '../../../kube/cache/store.ts';
import { createController } from '../../../kube/reconcile/controller.ts';
import { readSettings } from '../../../process/settings.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { operatorSettings, pollingOf } from '../../model/settings/operator.ts';
import { nextPollMs } from './poll-interval.ts';
import { lanesOf, slowSyncMs, workers } from './worker-lanes.ts';

const settings = readSettings(operatorSettings, { env: {}, flags: {} });
const polling = pollingOf(settings);
const timeoutMs = 30_000;
const random = () => 0.5;

function config(name: string, cloud: string, cluster: string): ConfigObject {
  const credentials = { openstackProviderID: cloud, k8sProviderID: cluster, projectID: 'p' };
  const metadata = { namespace: 'n', name, uid: name, resourceVersion: '1' };
  return { metadata, spec: { credentials } };
}

/**
 * Runs 100 OpenstackConfigs for an hour, 60 with hung services. Returns the longest gap between syncs per
 * healthy OpenstackConfig.
 */
async function hourOf(
  hung: (n: number) => ConfigObject,
  healthy = (n: number) => config(`well-${n}`, `cloud-${n % 8}`, `biz-${n}`),
) {
  const clock = createFakeClock();
  const configs = new Store<ConfigObject>();
  for (let n = 0; n < 60; n++) configs.upsert(hung(n));
  for (let n = 0; n < 40; n++) configs.upsert(healthy(n));
  const failures = new Map<string, number>();
  const syncTimes = new Map<string, number[]>();
  const state = { sinceChangeMs: 0, waiting: false, downPorts: false };
  const controller = createController({
    name: 'test',
    workers,
    lanes: lanesOf(configs),
    slowMs: slowSyncMs,
    sources: [{ store: configs }],
    reflectors: [],
    clock,
    random,
    reconcile: async (key, signal) => {
      syncTimes.set(key, [...(syncTimes.get(key) ?? [0]), clock.monotonicMs()]);
      const hangs = key.startsWith('n/hung');
      // Healthy OpenstackConfigs have a slow sync now and then.
      const much = (syncTimes.get(key)?.length ?? 0) % 5 === 0;
      await clock.sleep(hangs ? 2 * timeoutMs : much ? 1.5 * slowSyncMs : 300, signal);
      const failed = (failures.get(key) ?? 0) + 1;
      failures.set(key, failed);
      const now = { ...state, failures: hangs ? failed : 0 };
      return { requeueAfterMs: nextPollMs(polling, now, random) };
    },
  });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  for (let minute = 0; minute < 60; minute++) await clock.advance(60_000);
  stop.abort();
  await running;
  const well = [...syncTimes].filter(([key]) => key.startsWith('n/well'));
  return well.map(([, at]) => Math.max(...at.slice(1).map((time, n) => time - (at[n] ?? 0))));
}

describe('60 hung OpenstackConfigs', () => {
  it.each([
    ['one business cluster', (n: number) => config(`hung-${n}`, `cloud-${n}`, 'hung')],
    ['one cloud', (n: number) => config(`hung-${n}`, 'hung', `biz-${n}`)],
    [
      'business clusters of their own, in the clouds of others',
      (n: number) => config(`hung-${n}`, `cloud-${n % 12}`, `hung-${n}`),
    ],
    ['a cloud and a cluster each', (n: number) => config(`hung-${n}`, `hung-${n}`, `hung-${n}`)],
  ])(
    '60 hung OpenstackConfigs in %s do not delay syncs for healthy OpenstackConfigs',
    async (_what, hung) => {
      const gaps = await hourOf(hung);
      expect(gaps).toHaveLength(40);
      expect(Math.max(...gaps)).toBeLessThan(1.5 * polling.fastMs);
    },
  );

  it.each([
    [
      'hung clouds, and the business cluster of the others,',
      (n: number) => config(`hung-${n}`, `hung-${n}`, 'biz'),
      (n: number) => config(`well-${n}`, `cloud-${n}`, 'biz'),
    ],
    [
      'hung business clusters, and the cloud of the others,',
      (n: number) => config(`hung-${n}`, 'cloud', `hung-${n}`),
      (n: number) => config(`well-${n}`, 'cloud', `biz-${n}`),
    ],
  ])(
    '60 hung OpenstackConfigs in %s do not delay syncs for healthy OpenstackConfigs from the first sync on',
    async (_what, hung, healthy) => {
      const gaps = await hourOf(hung, healthy);
      expect(gaps).toHaveLength(40);
      expect(Math.max(...gaps)).toBeLessThan(1.5 * polling.fastMs);
    },
  );
});

it('lanesOf() puts OpenstackConfigs with the same cloud or the same business cluster in a common lane', () => {
  const configs = new Store<ConfigObject>();
  configs.upsert(config('a', 'cloud-1', 'biz-1'));
  configs.upsert(config('b', 'cloud-1', 'biz-2'));
  configs.upsert(config('c', 'cloud-2', 'biz-2'));
  expect(lanesOf(configs).most).toBeLessThanOrEqual(workers / 2);
  const lanes = ['n/a', 'n/b', 'n/c', 'n/gone'].map((key) => lanesOf(configs).of(key));
  expect(lanes).toEqual([
    ['cloud  cloud-1', 'cluster  biz-1'],
    ['cloud  cloud-1', 'cluster  biz-2'],
    ['cloud  cloud-2', 'cluster  biz-2'],
    [],
  ]);
});

it('lanesOf() distinguishes clouds without Contrabass by auth URL or credentials Secret', () => {
  const configs = new Store<ConfigObject>();
  const put = (namespace: string, name: string, credentials: object) =>
    configs.upsert({
      metadata: { namespace, name, uid: namespace + name, resourceVersion: '1' },
      spec: { credentials },
    });
  put('n', 'a', { authURL: 'https://one' });
  put('n', 'b', { authURL: 'https://two', k8sProviderID: 'biz-1' });
  put('n', 'c', { secretRef: { name: 'tenant' } });
  put('m', 'd', { secretRef: { name: 'tenant' } });
  const lanes = ['n/a', 'n/b', 'n/c', 'm/d'].map((key) => lanesOf(configs).of(key));
  expect(lanes).toEqual([
    ['cloud https://one', 'cluster  '],
    ['cloud https://two', 'cluster  biz-1'],
    ['cloud n/tenant', 'cluster  '],
    ['cloud m/tenant', 'cluster  '],
  ]);
});
