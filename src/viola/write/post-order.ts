import type { Cluster } from '../clusters/clusters.ts';

/** Maximum number of interrupted node sets per cluster; the oldest is dropped. */
const maxStarts = 16;

/**
 * Start nodes for the next requests, per cluster. In memory only: after a restart each set starts at its first node.
 */
const startsOf = new WeakMap<Cluster, Set<string>>();

/** Processing order for one request's nodes. */
export class PostOrder {
  readonly #starts: Set<string>;
  readonly #names: readonly string[];
  /** Positions in the request, in processing order. */
  readonly positions: readonly number[];

  /**
   * Starts where an earlier request to the same cluster ran out of time. Otherwise a caller that repeats its whole
   * set would have the first nodes read again each time and never reach the last nodes.
   */
  constructor(cluster: Cluster, names: readonly string[]) {
    this.#starts = startsOf.get(cluster) ?? new Set();
    startsOf.set(cluster, this.#starts);
    this.#names = names;
    const start = Math.max(
      0,
      names.findIndex((name) => this.#starts.has(name)),
    );
    this.positions = names.map((_, at) => (start + at) % names.length);
  }

  /**
   * Records the nodes (indexes into `positions`) skipped for lack of time. The next request starts at the first
   * skipped node. If this request also started there, the second skipped node is next, because the first may be the
   * slow node.
   */
  end(late: readonly number[]): void {
    for (const name of this.#names) this.#starts.delete(name);
    const sorted = late.toSorted((a, b) => a - b);
    const next = sorted[0] === 0 ? (sorted[1] ?? 1) : sorted[0];
    if (next === undefined) return;
    const name = this.#names[this.positions[next % this.#names.length] ?? 0];
    if (name) this.#starts.add(name);
    const [oldest] = this.#starts;
    if (this.#starts.size > maxStarts && oldest !== undefined) this.#starts.delete(oldest);
  }
}
