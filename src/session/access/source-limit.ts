import { DeadlineReached, type Limit, withDeadline } from '../../time/deadline.ts';

/**
 * Limit per call to a source. A source without any answer within the limit gets no further call: a command waits once
 * per source, not once per fact.
 */
export class SourceLimit {
  readonly #limit: Limit;
  #hasAnswered = false;
  #silence: DeadlineReached | undefined;
  readonly #onError: (error: unknown) => void;

  /** `onError` takes each failed call's error (default: none). */
  constructor(limit: Limit, onError: (error: unknown) => void = () => undefined) {
    this.#limit = limit;
    this.#onError = onError;
  }

  /** Runs a call; `ms` replaces the limit. Rejects with DeadlineReached at the limit. */
  async call<T>(
    work: (signal: AbortSignal) => Promise<T>,
    ms: number = this.#limit.ms,
  ): Promise<T> {
    if (this.#silence && !this.#hasAnswered) throw this.#silence;
    try {
      const result = await withDeadline({ ...this.#limit, ms }, work);
      this.#hasAnswered = true;
      return result;
    } catch (error) {
      if (error instanceof DeadlineReached) this.#silence = error;
      // A refusal is an answer, too.
      else this.#hasAnswered = true;
      this.#onError(error);
      throw error;
    }
  }
}
