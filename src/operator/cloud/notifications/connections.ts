import type { metricTable } from '../../../api/metrics.ts';
import type { Metrics } from '../../../process/metrics.ts';

/** Connected brokers, for the metrics. */
export class Connections {
  readonly #metrics: Pick<Metrics<typeof metricTable>, 'sample'>;
  /** By broker name; a broker with two passwords has two connections. */
  readonly #open = new Map<string, Set<() => boolean>>();
  readonly #sampled = new Set<string>();

  constructor(metrics: Pick<Metrics<typeof metricTable>, 'sample'>) {
    this.#metrics = metrics;
  }

  /** Shows a broker in the metrics until the returned function is called. */
  add(broker: string, isConnected: () => boolean): () => void {
    const open = this.#open.get(broker) ?? new Set();
    this.#open.set(broker, open.add(isConnected));
    if (!this.#sampled.has(broker)) {
      this.#sampled.add(broker);
      const value = (): number | undefined => this.#valueOf(broker);
      this.#metrics.sample('multinic_notifications_connected', { broker }, value);
    }
    return () => void open.delete(isConnected);
  }

  #valueOf(broker: string): number | undefined {
    const open = [...(this.#open.get(broker) ?? [])];
    if (open.length === 0) return undefined;
    return open.every((isConnected) => isConnected()) ? 1 : 0;
  }
}
