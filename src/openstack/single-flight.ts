import { unlessAborted } from '../requests/unless-aborted.ts';

/** Lets concurrent callers with the same key share one operation. */
export class SingleFlight<V> {
  readonly #flights = new Map<string, Promise<V>>();

  /**
   * Returns the result for `key`; `start` runs only if no flight is under way. An aborted caller leaves the flight
   * running for other callers, so `start` must not depend on any caller's signal.
   */
  async run(key: string, signal: AbortSignal, start: () => Promise<V>): Promise<V> {
    let flight = this.#flights.get(key);
    if (flight === undefined) {
      flight = start().finally(() => this.#flights.delete(key));
      this.#flights.set(key, flight);
    }
    return unlessAborted(flight, signal);
  }
}
