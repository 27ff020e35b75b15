import type { Clock } from '../../time/clock.ts';
import type { Applied } from './applied.ts';

type Dated = Pick<Applied, 'job' | 'at'>;

/**
 * Ages of records. The wall clock is read once, when a record is first observed; later ages use the monotonic clock.
 * Otherwise a clock set back by hours would delay retries for hours, and a clock set ahead would end all waits.
 */
export class RecordAges {
  readonly #clock: Clock;
  readonly #known = new Map<string, Dated & { readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns milliseconds since the time in the object's record. Never negative: another controller's clock may be
   * ahead.
   */
  of(key: string, { job, at }: Dated): number {
    const now = this.#clock.monotonicMs();
    const known = this.#known.get(key);
    if (known?.job === job && known.at === at) return now - known.since;
    const age = Math.max(0, this.#clock.now().getTime() - Date.parse(at));
    this.#known.set(key, { job, at, since: now - age });
    return age;
  }

  /** Call when the object is gone. */
  forget(key: string): void {
    this.#known.delete(key);
  }
}
