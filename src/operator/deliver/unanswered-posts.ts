import { postOverAfterMs } from '../../api/node-configs-http.ts';
import type { Owner } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';

/**
 * POSTs that failed, and may be carried out all the same: until that is out of the question, a business cluster in which
 * nothing is found is not yet one that nothing comes into. What whoever led before has sent nobody knows, so that it counts
 * as one that failed when this process began to lead.
 */
export class UnansweredPosts {
  readonly #clock: Clock;
  #ledSince: number;
  readonly #failedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ledSince = clock.monotonicMs();
  }

  /** From now on nobody but this process sends anything. */
  lead(): void {
    this.#ledSince = this.#clock.monotonicMs();
    this.#failedAt.clear();
  }

  /** Nothing was ever sent for the OpenstackConfig to this business cluster, unless its status was lost. */
  begin(owner: Owner, providerId: string): void {
    const key = keyOf(owner, providerId);
    if (!this.#failedAt.has(key)) this.#failedAt.set(key, Number.NEGATIVE_INFINITY);
  }

  failed(owner: Owner, providerId: string): void {
    this.#failedAt.set(keyOf(owner, providerId), this.#clock.monotonicMs());
  }

  /** Milliseconds in which something that was sent for the OpenstackConfig may come into the business cluster; 0 = nothing can. */
  openForMs(owner: Owner, providerId: string): number {
    const key = keyOf(owner, providerId);
    const leftOf = (since: number): number =>
      Math.max(0, since + postOverAfterMs - this.#clock.monotonicMs());
    const left = leftOf(this.#failedAt.get(key) ?? this.#ledSince);
    if (left === 0 && leftOf(this.#ledSince) === 0) this.#failedAt.delete(key);
    return left;
  }
}

function keyOf({ uid }: Owner, providerId: string): string {
  return `${uid} ${providerId}`;
}
