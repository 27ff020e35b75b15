import type { Clock } from '../../time/clock.ts';

interface StartedCheck {
  readonly job: string;
  readonly content: string;
  /** Milliseconds on the monotonic clock. */
  readonly at: number;
}

/** Last check on each node that this process started or found. */
export class StartedChecks {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #byKey = new Map<string, StartedCheck>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** True if the node's last check has this content. */
  has(key: string, content: string): boolean {
    return this.#byKey.get(key)?.content === content;
  }

  /** Returns milliseconds since the start of the node's last check; `Infinity`: none. */
  ageMs(key: string): number {
    const check = this.#byKey.get(key);
    return check ? this.#clock.monotonicMs() - check.at : Infinity;
  }

  start(key: string, job: string, content: string): void {
    this.#byKey.set(key, { job, content, at: this.#clock.monotonicMs() });
  }

  /** Notes an existing run, and returns milliseconds since this process started or found the run. */
  follow(key: string, job: string, content: string): number {
    const known = this.#byKey.get(key);
    const now = this.#clock.monotonicMs();
    const at = known?.job === job ? known.at : now;
    this.#byKey.set(key, { job, content, at });
    return now - at;
  }

  /** Call when the object is gone. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
