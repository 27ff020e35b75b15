import { unlessAborted } from '../requests/unless-aborted.ts';

/** Lets concurrent askers for one key share one piece of work. */
export class SingleFlight<V> {
  readonly #flights = new Map<string, Promise<V>>();

  /**
   * The result of the flight for `key`, started by `start` if none is under way. An asker that gives up leaves alone;
   * the flight goes on for the others, so `start` must not depend on one asker's signal.
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
