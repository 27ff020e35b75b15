import { expect, it } from 'vitest';
import { metricTable } from '../../../api/metrics.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { delivered, setScene } from '../../testing/scene.ts';
import { notReadyReasons } from '../status/not-ready-reasons.ts';
import { sampleNotReady } from './not-ready.ts';

const metrics = createMetrics(metricTable);

async function shown(registry = metrics.registry): Promise<readonly string[]> {
  const { values = [] } =
    (await registry.getSingleMetric('multinic_openstack_configs_not_ready')?.get()) ?? {};
  return values.map(({ labels, value }) => `${labels['reason']} ${value}`).toSorted();
}

function memory(...reasons: readonly string[]) {
  const term = { clock: createFakeClock(), ledSince: 0 };
  notReadyReasons.set(term, new Set(reasons));
  return { term };
}

it('an OpenstackConfig counts once per reason, until Ready, gone or led by another replica', async () => {
  const memories = new Map([
    ['n/a', memory('NameConflict', 'RemovalHeld')],
    ['n/b', memory('RemovalHeld')],
  ]);
  sampleNotReady(metrics, memories);
  expect(await shown()).toEqual(['NameConflict 1', 'RemovalHeld 2']);
  memories.set('n/a', memory());
  expect(await shown()).toEqual(['NameConflict 0', 'RemovalHeld 1']);
  memories.clear();
  expect(await shown()).toEqual(['NameConflict 0', 'RemovalHeld 0']);
});

it('each sync sets the reasons for one OpenstackConfig', async () => {
  await using scene = await setScene();
  scene.create({ subnetIDs: ['no-such-subnet'] });
  await scene.look();
  expect(await shown(scene.metrics.registry)).toEqual(['SubnetNotFound 1']);
  scene.edit({ subnetIDs: ['sub-a'] });
  await scene.look();
  expect(await shown(scene.metrics.registry)).toEqual(['SubnetNotFound 0']);
});

it('an OpenstackConfig counts for the reason of NICsReady until NICsReady is True', async () => {
  await using scene = await setScene();
  const nicsNotReady = async () => {
    const name = 'multinic_openstack_configs_nics_not_ready';
    const { values = [] } = (await scene.metrics.registry.getSingleMetric(name)?.get()) ?? {};
    return values.map(({ labels, value }) => `${labels['reason']} ${value}`).toSorted();
  };
  await delivered(scene);
  scene.viola.report('Failed', 'VerifyFailed');
  await scene.look();
  expect(await nicsNotReady()).toEqual(['NICsNotConfigured 1']);
  scene.viola.report('Configured');
  scene.trigger('mode: webhook');
  await scene.readNodes(90_000);
  expect(await nicsNotReady()).toEqual(['NICsNotConfigured 0']);
});
