import { describe, expect, it } from 'vitest';
import { createMetrics, measureProcess } from './metrics.ts';

const table = {
  nics_total: { type: 'counter', help: 'NICs.', labels: ['state'] },
  queue_depth: { type: 'gauge', help: 'Depth.', labels: [] },
  sync_seconds: { type: 'histogram', help: 'Seconds.', labels: ['part'], buckets: [1, 2] },
} as const;

describe('createMetrics', () => {
  it('createMetrics exposes every metric in the table on a separate registry', async () => {
    const metrics = createMetrics(table);
    metrics.count('nics_total', { state: 'Configured' });
    metrics.count('nics_total', { state: 'Configured' }, 2);
    metrics.set('queue_depth', {}, 7);
    metrics.observe('sync_seconds', { part: 'operator' }, 1.5);
    const text = await metrics.registry.metrics();
    expect(text).toContain('nics_total{state="Configured"} 3');
    expect(text).toContain('queue_depth 7');
    expect(text).toContain('sync_seconds_bucket{le="2",part="operator"} 1');
    expect(await createMetrics(table).registry.metrics()).not.toContain('Configured');
  });

  it('sample reads the gauge at every scrape, and omits the series while its value is undefined', async () => {
    const metrics = createMetrics(table);
    let depth: number | undefined = 3;
    metrics.sample('queue_depth', {}, () => depth);
    expect(await metrics.registry.metrics()).toContain('queue_depth 3');
    depth = 8;
    expect(await metrics.registry.metrics()).toContain('queue_depth 8');
    depth = undefined;
    expect(await metrics.registry.metrics()).not.toMatch(/^queue_depth/m);
  });

  it('sampleEach reads all series at every scrape, and omits series no longer returned', async () => {
    const metrics = createMetrics({ age: { type: 'gauge', help: 'Age.', labels: ['cloud'] } });
    let clouds = ['a', 'b'];
    metrics.sampleEach('age', () => clouds.map((cloud) => ({ labels: { cloud }, value: 1 })));
    expect(await metrics.registry.metrics()).toContain('age{cloud="b"} 1');
    clouds = ['a'];
    const text = await metrics.registry.metrics();
    expect(text).toContain('age{cloud="a"} 1');
    expect(text).not.toContain('cloud="b"');
  });

  it('process metrics are exposed only after measureProcess, because their collectors run until the process exits', async () => {
    const metrics = createMetrics(table);
    expect(await metrics.registry.metrics()).not.toContain('process_resident_memory_bytes');
    measureProcess(metrics);
    expect(await metrics.registry.metrics()).toContain('process_resident_memory_bytes');
  });

  it('sample refuses a second value with the same labels, because one would hide the other', () => {
    const metrics = createMetrics(table);
    metrics.sample('queue_depth', {}, () => 3);
    expect(() => metrics.sample('queue_depth', {}, () => 4)).toThrow('queue_depth has two values');
  });
});
