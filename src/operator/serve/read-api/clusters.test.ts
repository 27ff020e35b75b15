import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { configured, ReadApiFixture } from '../../../../test/fixtures/read-api.ts';
import type { ClusterView } from '../../../api/read-http.ts';
import { StepFailure } from '../../model/step-failure.ts';
import type { Scene } from '../../testing/scene.ts';

let api: ReadApiFixture;
let scene: Scene;

beforeEach(async () => {
  api = await ReadApiFixture.open();
  ({ scene } = api);
});

afterEach(async () => api[Symbol.asyncDispose]());

const cluster = (providerId: string, reachable = true) => ({
  providerId,
  server: 'https://k8s.test',
  reachable,
  checkedAt: '2026-01-01T00:00:00Z',
  message: reachable ? '' : 'connection refused',
});

it('business clusters show connection and node sums', async () => {
  await api.deliver();
  api.report('worker-1', configured('p1', 'fa:16:3e:00:00:01'));
  await scene.look();
  const rights = { missing: ['create jobs'], checkedAt: '2026-01-01T00:00:00Z' };
  scene.viola.clusters = [{ ...cluster('biz-1'), rights }, cluster('biz-3', false)];
  const { items } = await api.get<ClusterView>('clusters');
  expect(items).toEqual([
    {
      providerId: 'biz-1',
      reachable: true,
      message: '',
      checkedAt: '2026-01-01T00:00:00Z',
      missingRights: ['create jobs'],
      hasNamespaceMap: false,
      lastSyncs: [{ config: 'multinic-system/osc', at: '2026-01-01T00:00:30Z' }],
      nodes: 2,
      nics: { Pending: 0, InProgress: 0, Observed: 0, Configured: 1, Failed: 0 },
      drifted: 0,
      oldestCheck: '2026-01-01T00:00:30Z',
    },
    expect.objectContaining({ providerId: 'biz-3', reachable: false, nodes: 0 }),
  ]);
  expect((await api.get<ClusterView>('clusters', 'one')).items).toHaveLength(1);
  expect(scene.viola.clusterReads).toBe(1);
  await scene.clock.advance(11_000);
  await api.get('clusters');
  expect(scene.viola.clusterReads).toBe(2);
});

it('an unreadable Viola leaves the sums and explains the connection', async () => {
  await api.deliver();
  scene.viola.fail(500);
  const { items } = await api.get<ClusterView>('clusters');
  expect(items).toMatchObject([{ providerId: 'biz-1', nodes: 2 }]);
  expect(items[0]).not.toHaveProperty('reachable');
  expect(items[0]?.message).toMatch(/viola: unexpected status 500/);
});

it('a cluster missing from Viola’s report is absent, because registration is missing', async () => {
  await api.deliver();
  scene.viola.clusters = [cluster('biz-3')];
  const { items } = await api.get<ClusterView>('clusters');
  expect(items.map(({ providerId }) => providerId)).toEqual(['biz-3']);
});

it('an OpenstackConfig with a foreign Viola does not hide a business cluster from others', async () => {
  await api.deliver();
  const settings = { violaEndpoint: 'https://tenant.test' };
  scene.create({ settings }, { name: 'zz', uid: 'other' });
  scene.viola.clusters = [cluster('biz-1')];
  const { violas } = scene.readDeps();
  const usual = violas.clusters.bind(violas);
  vi.spyOn(violas, 'clusters').mockImplementation(async (endpoint, signal) => {
    if (endpoint.url === 'https://viola.test') return usual(endpoint, signal);
    throw new StepFailure({ reason: 'PolicyDenied', message: 'not allowed' });
  });
  const { items } = await api.get<ClusterView>('clusters');
  expect(items).toMatchObject([{ providerId: 'biz-1', reachable: true }]);
});
