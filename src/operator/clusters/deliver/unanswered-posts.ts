import { postOverAfterMs } from '../../../api/node-configs-http.ts';
import type { Clock } from '../../../time/clock.ts';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';

/**
 * One OpenstackConfig's failed POSTs that Viola may still carry out, by business cluster. Until such a POST has
 * expired, a business cluster without nodes does not count as clean. An earlier leader's POSTs are unknown: every
 * business cluster is assumed to have a POST that failed when this process became leader.
 */
class UnansweredPosts {
  readonly #clock: Clock;
  readonly #ledSince: number;
  readonly #failedAt = new Map<string, number>();

  /** `ledSince`: monotonic milliseconds at which this process became the only sender. */
  constructor(clock: Clock, ledSince: number) {
    this.#clock = clock;
    this.#ledSince = ledSince;
  }

  /**
   * Notes that this business cluster had no earlier POST. A noted failure remains, because the status may have been
   * lost.
   */
  begin(providerId: string): void {
    if (!this.#failedAt.has(providerId)) this.#failedAt.set(providerId, Number.NEGATIVE_INFINITY);
  }

  failed(providerId: string): void {
    this.#failedAt.set(providerId, this.#clock.monotonicMs());
  }

  /** Returns the milliseconds during which a POST may still reach the business cluster; 0: no POST can. */
  openForMs(providerId: string): number {
    const leftOf = (since: number): number =>
      Math.max(0, since + postOverAfterMs - this.#clock.monotonicMs());
    const left = leftOf(this.#failedAt.get(providerId) ?? this.#ledSince);
    if (left === 0 && leftOf(this.#ledSince) === 0) this.#failedAt.delete(providerId);
    return left;
  }
}

export const unansweredPosts = new Slot(
  ({ clock, ledSince }: TermMemory) => new UnansweredPosts(clock, ledSince),
);
