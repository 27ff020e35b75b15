import { expect, it } from 'vitest';
import { nodeConfig } from '../../test/fixtures/controller-samples.ts';
import { metricTable } from '../api/metrics.ts';
import { Store } from '../kube/cache/store.ts';
import { createMetrics } from '../process/metrics.ts';
import { sampleStates } from './metrics.ts';
import type { NodeConfig } from './objects/stores.ts';

function config(name: string, version: number, ready: string, reason: string): NodeConfig {
  const metadata = { name, uid: name, resourceVersion: String(version) };
  const conditions = [{ type: 'Ready', status: ready, reason }];
  return nodeConfig({ metadata, status: { state: 'Failed', conditions } });
}

it('multinic_node_configs_not_ready counts objects by reason until Ready or deleted', async () => {
  const metrics = createMetrics(metricTable);
  const configs = new Store<NodeConfig>();
  configs.upsert(config('a', 1, 'False', 'RemovalHeld'));
  sampleStates(configs, metrics);
  configs.upsert(config('b', 2, 'False', 'RemovalHeld'));
  configs.upsert(config('c', 3, 'Unknown', 'JobScheduled'));
  configs.upsert(config('d', 3, 'Unknown', 'NodeNotReady'));
  const shown = () => metrics.registry.getSingleMetricAsString('multinic_node_configs_not_ready');
  expect(await shown()).toContain('{reason="RemovalHeld"} 2');
  expect(await shown()).toContain('{reason="NodeNotReady"} 1');
  expect(await shown()).not.toContain('JobScheduled');
  configs.upsert(config('a', 4, 'True', 'AllInterfacesConfigured'));
  configs.upsert(config('b', 5, 'False', 'JobFailed'));
  expect(await shown()).toContain('{reason="RemovalHeld"} 0');
  expect(await shown()).toContain('{reason="JobFailed"} 1');
  expect(await shown()).not.toContain('AllInterfacesConfigured');
});

it('[C13] multinic_node_configs_not_ready counts unknown reasons as "Other"', async () => {
  const metrics = createMetrics(metricTable);
  const configs = new Store<NodeConfig>();
  sampleStates(configs, metrics);
  for (let n = 0; n < 60; n++) configs.upsert(config(`n${n}`, 1, 'False', `ByHand${n}`));
  const shown = await metrics.registry.getSingleMetricAsString('multinic_node_configs_not_ready');
  expect(shown).toContain('{reason="Other"} 60');
  expect(shown).not.toContain('ByHand');
});
