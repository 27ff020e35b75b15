import { HttpProblem } from '../../../../http/problem.ts';
import type { Clock } from '../../../../time/clock.ts';
import { refused, signatureWindowMs } from './signature.ts';

/** Most stored signatures per replica; each signature is an admitted call. */
const most = 10_000;
/** Milliseconds between the first and the last moment at which a signature is accepted. */
const rememberedMs = 2 * signatureWindowMs;

/** Used signatures, stored while a replay could be accepted. Each replica knows only its own calls. */
export class UsedSignatures {
  readonly #clock: Clock;
  /** Monotonic time by signature, oldest first. */
  readonly #used = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#used.size;
  }

  /** Throws 401 when the signature was used before, and 429 when the store is full. */
  use(hmac: string): void {
    const now = this.#clock.monotonicMs();
    for (const [used, at] of this.#used) {
      if (now - at <= rememberedMs) break;
      this.#used.delete(used);
    }
    if (this.#used.has(hmac)) {
      throw refused('this signature was used before; sign each request with a new timestamp');
    }
    if (this.#used.size >= most) {
      const detail = `${most} signed requests came within ten minutes; send fewer`;
      throw new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 60 });
    }
    this.#used.set(hmac, now);
  }

  /** Forgets a failed call's signature, so the caller may repeat the call unchanged. */
  forget(hmac: string): void {
    this.#used.delete(hmac);
  }
}
