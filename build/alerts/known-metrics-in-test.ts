import { metricTable } from '../../src/api/metrics.ts';
import { createMetrics, measureProcess } from '../../src/process/metrics.ts';

/** Returns the series of a process with their labels; undefined: a series from the client library. */
export async function knownMetrics(): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const metrics = createMetrics(metricTable);
  measureProcess(metrics);
  const found = await metrics.registry.getMetricsAsJSON();
  return new Map(found.flatMap(({ name }) => seriesOf(name)));
}

type Series = readonly [name: string, labels: readonly string[] | undefined];

function seriesOf(name: string): readonly Series[] {
  if (!isOurs(name)) return [[name, undefined]];
  const { type, labels } = metricTable[name];
  if (type !== 'histogram') return [[name, labels]];
  return ['bucket', 'sum', 'count'].map((part) => [`${name}_${part}`, [...labels, 'le']]);
}

function isOurs(name: string): name is keyof typeof metricTable {
  return name in metricTable;
}
