import { postOverAfterMs } from '../../api/node-configs-http.ts';
import type { Clock } from '../../time/clock.ts';

/**
 * POSTs of one OpenstackConfig that failed and that Viola may still carry out, by business cluster: until that is impossible,
 * a business cluster without its nodes does not count as clean. The POSTs of an earlier leader are unknown, so each
 * business cluster counts as one with a POST that failed when this process began to lead.
 */
export class UnansweredPosts {
  readonly #clock: Clock;
  readonly #ledSince: number;
  readonly #failedAt = new Map<string, number>();

  /** `ledSince`: since when no other replica sends anything (monotonic ms). */
  constructor(clock: Clock, ledSince: number) {
    this.#clock = clock;
    this.#ledSince = ledSince;
  }

  /** Notes that nothing was sent to this business cluster before, unless the status was lost. */
  begin(providerId: string): void {
    if (!this.#failedAt.has(providerId)) this.#failedAt.set(providerId, Number.NEGATIVE_INFINITY);
  }

  failed(providerId: string): void {
    this.#failedAt.set(providerId, this.#clock.monotonicMs());
  }

  /** Returns the milliseconds in which a POST may still reach the business cluster; 0: none can. */
  openForMs(providerId: string): number {
    const leftOf = (since: number): number =>
      Math.max(0, since + postOverAfterMs - this.#clock.monotonicMs());
    const left = leftOf(this.#failedAt.get(providerId) ?? this.#ledSince);
    if (left === 0 && leftOf(this.#ledSince) === 0) this.#failedAt.delete(providerId);
    return left;
  }
}
