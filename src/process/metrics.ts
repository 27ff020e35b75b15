import { isDeepStrictEqual } from 'node:util';
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  Registry,
} from 'prom-client';

/** A metric definition from the table behind the generated reference. */
interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /** Pattern that indicates a problem; for the reference. */
  readonly lookFor?: string;
}

export type MetricTable = Readonly<Record<string, MetricDefinition>>;

type NamesOf<T extends MetricTable, Type extends MetricDefinition['type']> = {
  [K in keyof T]: T[K]['type'] extends Type ? K : never;
}[keyof T] &
  string;
type LabelsOf<T extends MetricTable, Name extends keyof T> = Readonly<
  Record<T[Name]['labels'][number], string>
>;

/** Metrics in one process, typed by the table. */
export interface Metrics<T extends MetricTable> {
  readonly registry: Registry;
  count<N extends NamesOf<T, 'counter'>>(name: N, labels: LabelsOf<T, N>, by?: number): void;
  set<N extends NamesOf<T, 'gauge'>>(name: N, labels: LabelsOf<T, N>, value: number): void;
  /** Registers a gauge callback, called at every scrape: a value set once would stay while the work hangs. */
  sample<N extends NamesOf<T, 'gauge'>>(
    name: N,
    labels: LabelsOf<T, N>,
    value: () => number | undefined,
  ): void;
  /** Registers a callback for all series in a gauge: series missing from the result disappear. */
  sampleEach<N extends NamesOf<T, 'gauge'>>(
    name: N,
    values: () => readonly { readonly labels: LabelsOf<T, N>; readonly value: number }[],
  ): void;
  observe<N extends NamesOf<T, 'histogram'>>(name: N, labels: LabelsOf<T, N>, value: number): void;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: () => number | undefined;
}

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Adds CPU, memory, event loop and garbage collection metrics for the process; cannot be undone. */
export function measureProcess({ registry }: Pick<Metrics<MetricTable>, 'registry'>): void {
  collectDefaultMetrics({ register: registry });
}

/** Creates a separate registry (never the global one) with every metric in the table. */
export function createMetrics<const T extends MetricTable>(table: T): Metrics<T> {
  const registry = new Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  const samples = new Map<string, Sample[]>();
  const whole = new Map<string, () => readonly Series[]>();
  function sampledGauge(name: string, common: GaugeConfiguration<string>): Gauge {
    const sampled: Sample[] = [];
    samples.set(name, sampled);
    return new Gauge({
      ...common,
      collect() {
        const all = whole.get(name)?.();
        if (all) this.reset();
        for (const { labels, value } of all ?? []) this.set(labels, value);
        for (const { labels, value } of sampled) {
          const current = value();
          if (current === undefined) this.remove(labels);
          else this.set(labels, current);
        }
      },
    });
  }
  for (const [name, { type, help, labels, buckets }] of Object.entries(table)) {
    const common = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'counter') counters.set(name, new Counter(common));
    else if (type === 'gauge') gauges.set(name, sampledGauge(name, common));
    else
      histograms.set(name, new Histogram(buckets ? { ...common, buckets: [...buckets] } : common));
  }
  return {
    registry,
    count: (name, labels, by = 1) => counters.get(name)?.inc(labels, by),
    set: (name, labels, value) => gauges.get(name)?.set(labels, value),
    sample: (name, labels, value) => {
      const sampled = samples.get(name) ?? [];
      if (sampled.some((other) => isDeepStrictEqual(other.labels, labels))) {
        throw new Error(`${name} has two values with the labels ${JSON.stringify(labels)}`);
      }
      sampled.push({ labels, value });
    },
    sampleEach: (name, values) => void whole.set(name, values),
    observe: (name, labels, value) => histograms.get(name)?.observe(labels, value),
  };
}
