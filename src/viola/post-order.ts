import type { Cluster } from './clusters.ts';

/** Sets that a cluster can be in the middle of; the oldest is forgotten. */
const maxStarts = 16;

/** For each cluster the nodes at which the next requests begin. In memory only: after a restart a set begins at its first node. */
const startsOf = new WeakMap<Cluster, Set<string>>();

/** The order in which the nodes of one request are processed. */
export class PostOrder {
  readonly #starts: Set<string>;
  readonly #names: readonly string[];
  /** Positions in the request, in the order of processing. */
  readonly positions: readonly number[];

  /**
   * Begins where an earlier request of the same cluster ran out of time: a caller that repeats its whole set would have the
   * first nodes read again and again otherwise, and never get to the last ones.
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
   * Notes which nodes (by place in `positions`) the time did not suffice for. The next request begins at the first of them;
   * if that one was the first of this request, at the one after it, as it alone may be what takes so long.
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
