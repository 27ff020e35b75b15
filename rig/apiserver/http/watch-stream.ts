import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../src/time/clock.ts';
import type { Delivery, OpenWatch } from '../faults.ts';
import type { WatchEvent } from '../verbs/watch.ts';

/** A watcher this far behind is cut off, as the real server does with a full buffer. */
const maxBufferedBytes = 64 * 1024 * 1024;

interface StreamOptions {
  readonly response: ServerResponse;
  readonly resource: string;
  readonly clock: Clock;
  readonly deliver: (event: WatchEvent, resource: string) => Delivery;
}

/** One watch's answer: a line of JSON per event, with the deliveries that faults ask for. */
export class WatchStream implements OpenWatch {
  readonly resource: string;
  readonly #options: StreamOptions;
  readonly #closed = new AbortController();
  #silent = false;
  #held: Promise<void> | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.resource = options.resource;
    options.response.on('close', () => this.#closed.abort(new Error('the watcher has gone')));
  }

  /** Aborted when the connection is gone. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  send(event: WatchEvent): void {
    const delivery = this.#options.deliver(event, this.resource);
    if (delivery === 'drop') return;
    if (this.#held === undefined && typeof delivery === 'string') {
      this.#write(event, delivery);
      return;
    }
    this.#held = this.#afterHeld(event, delivery);
  }

  async #afterHeld(event: WatchEvent, delivery: Exclude<Delivery, 'drop'>): Promise<void> {
    await this.#held;
    if (typeof delivery === 'object') {
      await this.#options.clock.sleep(delivery.delayMs, this.signal).catch(() => undefined);
    }
    this.#write(event, delivery);
  }

  #write(event: WatchEvent, delivery: Delivery): void {
    const { response } = this.#options;
    if (this.#silent || this.signal.aborted) return;
    const line = `${JSON.stringify(event)}\n`;
    response.write(delivery === 'twice' ? line + line : line);
    if (response.writableLength > maxBufferedBytes) this.drop();
  }

  /** Ends the answer in good order once everything held back is out. */
  async end(): Promise<void> {
    await this.#held;
    this.#options.response.end();
  }

  drop(): void {
    this.#options.response.destroy();
  }

  silence(): void {
    this.#silent = true;
  }

  get silent(): boolean {
    return this.#silent;
  }
}
