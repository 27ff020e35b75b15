import { type Clock, passed } from '../time/clock.ts';
import { DeadlineReached } from '../time/deadline.ts';
import { HttpProblem } from './problem.ts';

export interface ExchangeOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
}

/** One request and its answer: what its work has to obey, and what it holds until both have ended. */
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

  /** Aborts when the caller has left or the time is over. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Gives `release` its turn when nothing of this exchange is left; at once when that is so already. */
  hold(release: () => void): void {
    this.#release = release;
    this.#letGo();
  }

  /** The answer is sent, or its caller is gone. */
  close(): void {
    this.#closed = true;
    this.#end.abort(new HttpProblem(499, 'CallerLeft', 'the caller left before the answer'));
    this.#letGo();
  }

  /** Runs the work that answers the request. It is told by `signal` when to stop and counts until it has. */
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
      timer.abort();
      this.#working = false;
      this.#letGo();
    }
  }

  #letGo(): void {
    if (!this.#closed || this.#working) return;
    this.#release();
    this.#release = () => undefined;
  }
}

function outOfTime(ms: number): HttpProblem {
  const cause = new DeadlineReached(ms);
  return new HttpProblem(503, 'DeadlineReached', `${cause.message}; repeat it`, {
    cause,
    retryAfterSeconds: 1,
  });
}
