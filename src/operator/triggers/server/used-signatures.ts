import { HttpProblem } from '../../../http/problem.ts';
import type { Clock } from '../../../time/clock.ts';
import { refused, signatureWindowMs } from './signature.ts';

/** As many as a replica remembers at once; with each goes a call that was let through. */
const most = 10_000;
/** From the earliest moment at which a signature is good to the last. */
const rememberedMs = 2 * signatureWindowMs;

/** Signatures that were good once, as long as they could be sent again. Each replica knows those that it was sent. */
export class UsedSignatures {
  readonly #clock: Clock;
  /** Signature and monotonic time, the oldest first. */
  readonly #used = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#used.size;
  }

  /** Throws 401 when it was used before, and 429 when no more can be remembered. */
  use(hmac: string): void {
    const now = this.#clock.monotonicMs();
    for (const [used, at] of this.#used) {
      if (now - at <= rememberedMs) break;
      this.#used.delete(used);
    }
    if (this.#used.has(hmac)) {
      throw refused('this signature was used before; sign each call with a timestamp of its own');
    }
    if (this.#used.size >= most) {
      const detail = `${most} signed calls came within ten minutes; send fewer`;
      throw new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 60 });
    }
    this.#used.set(hmac, now);
  }

  /** Of a call that came to nothing: it may be sent again as it is. */
  forget(hmac: string): void {
    this.#used.delete(hmac);
  }
}
