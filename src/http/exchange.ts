import { type Clock, endOfWait, passed } from '../time/clock.ts';
import { DeadlineReached } from '../time/deadline.ts';
import { HttpProblem } from './problem.ts';

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/** A request with its response: abort signal and occupied slot, until both response and work have ended. */
export class Exchange {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #end = new AbortController();
  #release: () => void = () => undefined;
  #working = false;
  #closed = false;

  constructor({ clock, deadlineMs }: ExchangeOptions) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
  }

  /** Aborts when the caller has disconnected or the deadline has passed. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Calls `release` when response and work have ended; at once if both already have. */
  hold(release: () => void): void {
    this.#release = release;
    this.#releaseIfDone();
  }

  /** Marks the response as sent, or the caller as gone. */
  close(): void {
    this.#closed = true;
    this.#end.abort(
      new HttpProblem(499, 'CallerLeft', 'the caller disconnected before the response'),
    );
    this.#releaseIfDone();
  }

  /**
   * Runs the request's work with the deadline. `signal` tells the work to stop; the slot stays occupied until the
   * work has ended.
   */
  async carryOut<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    const timer = new AbortController();
    this.#working = true;
    void passed(this.#clock, this.#deadlineMs, timer.signal).then((late) => {
      if (late) this.#end.abort(outOfTime(this.#deadlineMs));
    });
    try {
      return await work();
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      timer.abort(endOfWait);
      this.#working = false;
      this.#releaseIfDone();
    }
  }

  #releaseIfDone(): void {
    if (!this.#closed || this.#working) return;
    this.#release();
    this.#release = () => undefined;
  }
}

function outOfTime(ms: number): HttpProblem {
  const cause = new DeadlineReached(ms);
  return new HttpProblem(503, 'DeadlineReached', `${cause.message}; repeat the request`, {
    cause,
    retryAfterSeconds: 1,
  });
}
