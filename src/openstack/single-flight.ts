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

/** `promise`, or a rejection with the signal's reason as soon as it aborts. */
export async function unlessAborted<V>(promise: Promise<V>, signal: AbortSignal): Promise<V> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
