import { describe, expect, it } from 'vitest';
import { createMetrics, measureProcess } from './metrics.ts';

const table = {
  nics_total: { type: 'counter', help: 'NICs.', labels: ['state'] },
  queue_depth: { type: 'gauge', help: 'Depth.', labels: [] },
  sync_seconds: { type: 'histogram', help: 'Seconds.', labels: ['part'], buckets: [1, 2] },
} as const;

describe('createMetrics', () => {
  it('exposes every metric of the table under its own registry', async () => {
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

  it('asks for a sampled gauge whenever it is read, and shows none while there is no value', async () => {
    const metrics = createMetrics(table);
    let depth: number | undefined = 3;
    metrics.sample('queue_depth', {}, () => depth);
    expect(await metrics.registry.metrics()).toContain('queue_depth 3');
    depth = 8;
    expect(await metrics.registry.metrics()).toContain('queue_depth 8');
    depth = undefined;
    expect(await metrics.registry.metrics()).not.toMatch(/^queue_depth/m);
  });

  it('asks for all values of a gauge at once, and shows none that is not answered any more', async () => {
    const metrics = createMetrics({ age: { type: 'gauge', help: 'Age.', labels: ['cloud'] } });
    let clouds = ['a', 'b'];
    metrics.sampleEach('age', () => clouds.map((cloud) => ({ labels: { cloud }, value: 1 })));
    expect(await metrics.registry.metrics()).toContain('age{cloud="b"} 1');
    clouds = ['a'];
    const text = await metrics.registry.metrics();
    expect(text).toContain('age{cloud="a"} 1');
    expect(text).not.toContain('cloud="b"');
  });

  it('tells of the process only where it is asked to: what watches it lives as long as the process', async () => {
    const metrics = createMetrics(table);
    expect(await metrics.registry.metrics()).not.toContain('process_resident_memory_bytes');
    measureProcess(metrics);
    expect(await metrics.registry.metrics()).toContain('process_resident_memory_bytes');
  });

  it('refuses a second value with the same labels: one would hide the other', () => {
    const metrics = createMetrics(table);
    metrics.sample('queue_depth', {}, () => 3);
    expect(() => metrics.sample('queue_depth', {}, () => 4)).toThrow('queue_depth has two values');
  });
});
