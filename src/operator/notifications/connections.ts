import type { metricTable } from '../../api/metrics.ts';
import type { Metrics } from '../../process/metrics.ts';

/** Which brokers are connected, for whoever reads the metrics. */
export class Connections {
  readonly #metrics: Pick<Metrics<typeof metricTable>, 'sample'>;
  /** By the name of the broker; two with other passwords are two connections. */
  readonly #open = new Map<string, Set<() => boolean>>();
  readonly #sampled = new Set<string>();

  constructor(metrics: Pick<Metrics<typeof metricTable>, 'sample'>) {
    this.#metrics = metrics;
  }

  /** Shows a broker until the answer is called. */
  add(broker: string, isConnected: () => boolean): () => void {
    const those = this.#open.get(broker) ?? new Set();
    this.#open.set(broker, those.add(isConnected));
    if (!this.#sampled.has(broker)) {
      this.#sampled.add(broker);
      const value = (): number | undefined => this.#valueOf(broker);
      this.#metrics.sample('multinic_notifications_connected', { broker }, value);
    }
    return () => void those.delete(isConnected);
  }

  #valueOf(broker: string): number | undefined {
    const those = [...(this.#open.get(broker) ?? [])];
    if (those.length === 0) return undefined;
    return those.every((isConnected) => isConnected()) ? 1 : 0;
  }
}
