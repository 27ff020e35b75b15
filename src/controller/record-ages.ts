import type { Clock } from '../time/clock.ts';
import type { Applied } from './applied.ts';

type Dated = Pick<Applied, 'job' | 'at'>;

/**
 * How long records have stood. The wall clock is asked once, when a record is first seen; from then on its age grows with the
 * time that passes here: a clock that is set back by hours would else hold up retries for as long, and one that is set
 * ahead would end every wait at once.
 */
export class RecordAges {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly record: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the time in the record of this object; never negative, as another controller's clock may be ahead. */
  of(key: string, { job, at }: Dated): number {
    const now = this.#clock.monotonicMs();
    const record = `${job} ${at}`;
    const known = this.#known.get(key);
    if (known?.record === record) return now - known.since;
    const age = Math.max(0, this.#clock.now().getTime() - Date.parse(at));
    this.#known.set(key, { record, since: now - age });
    return age;
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#known.delete(key);
  }
}
