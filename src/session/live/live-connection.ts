import { type Backoff, backoffMs } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';

/** A connection's state. `since`: start of the phase, across retries. */
export type ConnectionState =
  | { readonly phase: 'unused' }
  | { readonly phase: 'connecting' | 'open'; readonly since: Date }
  | { readonly phase: 'lost'; readonly since: Date; readonly error: unknown };

/** A resource with its own end, such as a port-forward. */
export interface Mortal extends AsyncDisposable {
  /** Resolves with the reason when the resource ends. */
  readonly ended: Promise<unknown>;
}

/** How to reach the other end. */
export interface Way<T extends Mortal> {
  /** Opens the connection; the signal ends the attempt. */
  open(signal: AbortSignal): Promise<T>;
  /** Rejects if the other end is silent or wrong. */
  check(resource: T, signal: AbortSignal): Promise<void>;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff: Backoff;
  readonly onChange: () => void;
}

/**
 * A connection: opens on first use, again after each loss, and ends with close. The resource's own end reports a loss, or
 * a check after a call without an answer. No poll looks for losses.
 */
export class LiveConnection<T extends Mortal> implements AsyncDisposable {
  readonly #way: Way<T>;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  #state: ConnectionState = { phase: 'unused' };
  /** Pending before the next attempt's result, unless attempts have failed since the loss. */
  #resource = pending<T>();
  #running: Promise<void> | undefined;
  /** Ends the wait for a loss; undefined: not open. */
  #lose: ((error: unknown) => void) | undefined;
  #opened: T | undefined;
  #isChecking = false;

  constructor(way: Way<T>, options: ConnectionOptions) {
    this.#way = way;
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Returns the open resource. Waits for the first attempt after a loss; rejects with the last failure during later attempts. */
  async value(): Promise<T> {
    this.#closing.signal.throwIfAborted();
    this.#running ??= this.#run();
    return this.#resource.promise;
  }

  /** Checks the open connection after a call without an answer; a failed check is a loss. */
  doubt(): void {
    if (this.#opened === undefined || this.#isChecking) return;
    const { signal } = this.#closing;
    const lose = this.#lose;
    this.#isChecking = true;
    this.#way
      .check(this.#opened, signal)
      .catch((error: unknown) => lose?.(error))
      .finally(() => {
        this.#isChecking = false;
      });
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { clock, random, backoff } = this.#options;
    this.#become({ phase: 'connecting', since: clock.now() });
    let failures = 0;
    while (!signal.aborted) {
      failures = await this.#openOnce(failures);
      await passed(clock, backoffMs(failures - 1, backoff, random), signal);
    }
  }

  /** Opens the connection and waits for the loss. Takes and returns the count for failures in a row. */
  async #openOnce(failures: number): Promise<number> {
    const { clock, backoff } = this.#options;
    try {
      await using resource = await this.#checked();
      const start = clock.monotonicMs();
      const error = await this.#lossOf(resource);
      // A connection with a break soon after each start counts as failing.
      const earlier = clock.monotonicMs() - start >= backoff.maxMs ? 0 : failures;
      this.#resource = pending();
      if (earlier > 0) this.#resource.reject(error);
      this.#report(error);
      return earlier + 1;
    } catch (error) {
      this.#settle((result) => result.reject(error));
      this.#report(error);
      return failures + 1;
    }
  }

  async #checked(): Promise<T> {
    const { signal } = this.#closing;
    const resource = await this.#way.open(signal);
    try {
      await this.#way.check(resource, signal);
      signal.throwIfAborted();
      return resource;
    } catch (error) {
      await resource[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Offers the resource; resolves with the reason for the loss. */
  async #lossOf(resource: T): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { signal } = this.#closing;
    const onClose = () => resolve(signal.reason);
    signal.addEventListener('abort', onClose, { once: true });
    void resource.ended.then(resolve);
    this.#lose = resolve;
    this.#opened = resource;
    this.#settle((result) => result.resolve(resource));
    this.#become({ phase: 'open', since: this.#options.clock.now() });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onClose);
      this.#lose = undefined;
      this.#opened = undefined;
    }
  }

  /** Answers waiting and later readers. */
  #settle(answer: (result: PromiseWithResolvers<T>) => void): void {
    answer(this.#resource);
    this.#resource = pending();
    answer(this.#resource);
  }

  #report(error: unknown): void {
    const since = this.#state.phase === 'lost' ? this.#state.since : this.#options.clock.now();
    if (!this.#closing.signal.aborted) this.#become({ phase: 'lost', since, error });
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.#options.onChange();
  }

  /** Ends an attempt or the open resource, and waits for the children. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the connection is closed'));
    this.#resource.reject(this.#closing.signal.reason);
    await this.#running;
  }
}

function pending<T>(): PromiseWithResolvers<T> {
  const result = Promise.withResolvers<T>();
  // A failure without a waiting reader is no error in this process.
  result.promise.catch(() => undefined);
  return result;
}
