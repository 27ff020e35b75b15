import { beforeEach, describe, expect, it } from 'vitest';
import { metricTable } from '../api/metrics.ts';
import { labels } from '../api/names.ts';
import { createMetrics, type Metrics } from '../process/metrics.ts';
import { sampleOperators } from './metrics.ts';
import { createStores, type Stores } from './objects/stores.ts';
import { operatorWith } from './testing/observed.ts';

let metrics: Metrics<typeof metricTable>;
let stores: Stores;

beforeEach(() => {
  metrics = createMetrics(metricTable);
  stores = createStores('multinic-system');
  sampleOperators(metrics, stores);
});

async function shown(name: string): Promise<string[]> {
  const text = await metrics.registry.getSingleMetricAsString(name);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.replace(name, ''));
}

function operator(status: object): void {
  stores.operators.replace([operatorWith({}, { status })]);
}

const conditions = (type: string, status: string, reason: string) => ({
  conditions: [{ type, status, reason }],
});

const of = (component: string) =>
  `{component="${component}",namespace="multinic-system",operator="production-system"}`;

describe('metrics of a MultiNicOperator', () => {
  it.each([
    ['has no status yet', {}, ['{operator="production-system",reason="Other"} 1']],
    [
      'has an unusable field',
      { phase: 'Error', ...conditions('Ready', 'False', 'InvalidSpec') },
      ['{operator="production-system",reason="InvalidSpec"} 1'],
    ],
    [
      'has a foreign reason',
      { phase: 'Error', ...conditions('Ready', 'False', 'Unheard') },
      ['{operator="production-system",reason="Other"} 1'],
    ],
    ['is Running', { phase: 'Running' }, []],
  ])('multinic_operator_not_running when the MultiNicOperator %s', async (_what, status, lines) => {
    operator(status);
    expect(await shown('multinic_operator_not_running')).toEqual(lines);
  });

  it('multinic_operator_contested follows the condition', async () => {
    operator(conditions('Contested', 'True', 'Contested'));
    expect(await shown('multinic_operator_contested')).toEqual([
      '{operator="production-system"} 1',
    ]);
    operator(conditions('Contested', 'False', 'AsSpecified'));
    expect(await shown('multinic_operator_contested')).toEqual([
      '{operator="production-system"} 0',
    ]);
    stores.operators.replace([]);
    expect(await shown('multinic_operator_contested')).toEqual([]);
  });

  it('multinic_component_status shows components enabled in the spec', async () => {
    operator({
      controllerStatus: { phase: 'Ready' },
      databaseStatus: { phase: 'Progressing' },
      protectionStatus: { active: true },
    });
    expect(await shown('multinic_component_status')).toEqual([
      `${of('controller')} 1`,
      `${of('database')} 0`,
      `${of('protection')} 1`,
    ]);
    operator({ controllerStatus: { phase: 'Degraded' }, databaseStatus: { phase: 'External' } });
    expect(await shown('multinic_component_status')).toEqual([`${of('controller')} 0`]);
  });

  it('multinic_operator_managed_resources_count ignores foreign objects', async () => {
    const made = { [labels.managedByOperator]: 'production-system' };
    stores.services.replace([
      { metadata: { namespace: 'multinic-system', name: 'a', labels: made } },
      { metadata: { namespace: 'multinic-system', name: 'b' } },
    ]);
    expect(await shown('multinic_operator_managed_resources_count')).toEqual(
      expect.arrayContaining(['{kind="Service"} 1', '{kind="Secret"} 0']),
    );
  });
});
