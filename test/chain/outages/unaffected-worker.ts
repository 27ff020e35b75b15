import { systemClock as clock } from '../../../src/time/clock.ts';
import { untilConfigured } from '../waits.ts';
import { plug, type Settled, unplug } from './place.ts';

/** One change of a worker that nothing is out for: what, and monotonic times of its begin and end. */
export interface Served {
  readonly change: 'attach' | 'detach';
  readonly from: number;
  readonly to: number;
}

/** A worker whose port comes and goes all the time, beside those for whom something is out. */
export class UnaffectedWorker implements AsyncDisposable {
  readonly #served: Served[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(calm: Settled) {
    this.#running = this.#run(calm);
    // Told by whoever waits for it.
    this.#running.catch(() => undefined);
  }

  /** Changes that began and ended within these times. */
  within(from: number, to: number): readonly Served[] {
    return this.#served.filter((each) => from <= each.from && each.to <= to);
  }

  /** Everything that was asked for has been served. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(calm: Settled): Promise<void> {
    const { world, worker, port } = calm;
    while (!this.#stop.signal.aborted) {
      await this.#serve('attach', async () => {
        await plug(calm, port);
        await untilConfigured(world, worker, 'multinic0', 'multinic1');
      });
      await this.#serve('detach', async () => {
        await unplug(calm, port);
        await untilConfigured(world, worker, 'multinic0');
      });
    }
  }

  async #serve(change: Served['change'], work: () => Promise<void>): Promise<void> {
    const from = clock.monotonicMs();
    await work();
    this.#served.push({ change, from, to: clock.monotonicMs() });
  }
}
