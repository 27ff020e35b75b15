import { expect, it } from 'vitest';
import { BizSources, bizNic, bizNode, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { metricTable } from '../../api/metrics.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import { Store } from '../../kube/cache/store.ts';
import { createMetrics, type Metrics } from '../../process/metrics.ts';
import { notReadyIndex, notReadyReasonsIn, sampleNotReady } from './not-ready.ts';

const gauge = 'multinic_biz_configs_not_ready';

/** Returns the series of the gauge, such as `EntriesRefused 1`. */
async function seriesOf({ registry }: Pick<Metrics<typeof metricTable>, 'registry'>) {
  const text = await registry.getSingleMetricAsString(gauge);
  const found = text.matchAll(/\{reason="(\w+)"\} (\d+)$/gm);
  return [...found].map(([, reason, count]) => `${reason} ${count}`).toSorted();
}

function source(name: string, version: number, ready: string, reason: string): BizConfig {
  const metadata = { name, namespace: system, uid: name, resourceVersion: String(version) };
  return {
    metadata,
    status: { conditions: [{ type: 'Ready', status: ready, reason }] },
  } as BizConfig;
}

function watched() {
  return { store: new Store<BizConfig>({ indexes: { [notReadyIndex]: notReadyReasonsIn } }) };
}

it('multinic_biz_configs_not_ready counts objects of all groups by reason until Ready or deleted', async () => {
  const metrics = createMetrics(metricTable);
  const [first, second] = [watched(), watched()];
  sampleNotReady(metrics, [first, second]);
  expect(await seriesOf(metrics)).toEqual([]);
  first.store.upsert(source('a', 1, 'False', 'NodesFailed'));
  second.store.upsert(source('a', 1, 'False', 'NodesFailed'));
  second.store.upsert(source('b', 2, 'Unknown', 'ProcessingNodes'));
  second.store.upsert(source('c', 3, 'False', 'RemovalHeld'));
  expect(await seriesOf(metrics)).toEqual(['NodesFailed 2', 'RemovalHeld 1']);
  first.store.upsert(source('a', 4, 'True', 'AllNodesConfigured'));
  second.store.replace([]);
  expect(await seriesOf(metrics)).toEqual([]);
});

it('multinic_biz_configs_not_ready counts unknown reasons as "Other"', async () => {
  const metrics = createMetrics(metricTable);
  const { store } = watched();
  sampleNotReady(metrics, [{ store }]);
  for (let n = 0; n < 60; n++) store.upsert(source(`n${n}`, 1, 'False', `ByHand${n}`));
  expect(await seriesOf(metrics)).toEqual(['Other 60']);
});

it('the controller shows the reason of a MultiNicBizConfig with a refused entry until the entry is corrected', async () => {
  await using fixture = await ControllerFixture.start();
  const sources = new BizSources(fixture);
  await fixture.addNode('w-1', 'i-1');
  await sources.create('all', [
    bizNode(1, [], { interfaces: [bizNic(1, 1, { macAddress: 'none' })] }),
  ]);
  fixture.run();
  const { metrics } = fixture;
  await sources.untilCondition('all', 'Ready False EntriesRefused');
  expect(await seriesOf(metrics)).toEqual(['EntriesRefused 1']);
  await sources.edit('all', [bizNode(1, [1])]);
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
  expect(await seriesOf(metrics)).toEqual([]);
});
