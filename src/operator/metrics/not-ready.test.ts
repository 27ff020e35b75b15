import { beforeEach, expect, it } from 'vitest';
import { metricTable } from '../../api/metrics.ts';
import { createMetrics } from '../../process/metrics.ts';
import { setScene } from '../testing/scene.ts';
import { NotReady } from './not-ready.ts';

const metrics = createMetrics(metricTable);
let notReady: NotReady;

beforeEach(() => {
  metrics.registry.resetMetrics();
  notReady = new NotReady(metrics);
});

async function shown(registry = metrics.registry): Promise<readonly string[]> {
  const { values = [] } =
    (await registry.getSingleMetric('multinic_openstack_configs_not_ready')?.get()) ?? {};
  return values.map(({ labels, value }) => `${labels['reason']} ${value}`).toSorted();
}

it('counts an object once for each of its reasons, however often it has one', async () => {
  notReady.note('n/a', ['NameConflict', 'RemovalHeld', 'NameConflict']);
  notReady.note('n/b', ['RemovalHeld']);
  expect(await shown()).toEqual(['NameConflict 1', 'RemovalHeld 2']);
});

it('counts no object any more that is Ready, gone, or led by somebody else', async () => {
  notReady.note('n/a', ['RemovalHeld']);
  notReady.note('n/b', ['RemovalHeld', 'NameConflict']);
  notReady.note('n/a', []);
  expect(await shown()).toEqual(['NameConflict 1', 'RemovalHeld 1']);
  notReady.clear();
  expect(await shown()).toEqual(['NameConflict 0', 'RemovalHeld 0']);
});

it('is told by each look at an OpenstackConfig', async () => {
  await using scene = await setScene();
  scene.create({ subnetIDs: ['no-such-subnet'] });
  await scene.look();
  expect(await shown(scene.metrics.registry)).toEqual(['SubnetNotFound 1']);
  scene.edit({ subnetIDs: ['sub-a'] });
  await scene.look();
  expect(await shown(scene.metrics.registry)).toEqual(['SubnetNotFound 0']);
});
