import { PageProblem } from '../guard/page-problem.ts';

/** Most waiting actions; a further action gets 429. */
const mostWaiting = 8;

/** Runs actions one after the other, in arrival order: an action sent twice finds the first result. */
export class WriterGate {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Runs an action after all earlier actions. Throws the signal's reason if the caller left before the start. */
  async run<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    if (this.#waiting >= mostWaiting) throw tooManyActions();
    this.#waiting += 1;
    const earlier = this.#last;
    const turn = (async () => {
      await earlier;
      this.#waiting -= 1;
      signal.throwIfAborted();
      return action();
    })();
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

function tooManyActions(): PageProblem {
  return new PageProblem(
    429,
    {
      reason: 'TooManyActions',
      message: `${mostWaiting} actions wait already`,
      nextStep: 'wait until these actions have ended',
    },
    { retryAfterSeconds: 5 },
  );
}
