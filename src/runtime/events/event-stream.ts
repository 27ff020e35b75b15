import { Readable } from 'node:stream';
import { heartbeatText, resetText } from './event-text.ts';
import type { Ring } from './ring.ts';

/** Buffer per stalled reader: 100 readers take 2 MB. */
const bufferBytes = 16 * 1024;
/** Pause between heartbeats. */
const heartbeatMs = 15_000;
/** Longest time without reading: a reader with pending text is then dropped. */
export const longestStallMs = 30_000;

interface EventStreamOptions<Entry> {
  readonly ring: Ring<Entry>;
  /** The reader's last event id; undefined: a new reader begins with the next change. */
  readonly lastEventId: string | undefined;
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Planned end (monotonic milliseconds). */
  readonly endsAt: number;
  /** Returns the event for a change; undefined: hidden from the reader. */
  readonly textOf: (entry: Entry, number: number) => string | undefined;
  /** Returns whether the reader's token still has the initial rights. */
  readonly isAdmitted: () => Promise<boolean>;
}

/**
 * A reader's text, pulled from the ring as the reader reads: the reader's buffer exceeds the stream's
 * high-water mark by at most an event.
 */
export class EventStream<Entry> extends Readable {
  readonly #options: EventStreamOptions<Entry>;
  /** Last change before the position. */
  #position: number;
  #wantsText = false;
  #hasEnded = false;
  /** Last heartbeat and last pull (monotonic milliseconds). */
  #beatAt: number;
  #pulledAt: number;

  constructor(options: EventStreamOptions<Entry>) {
    super({ highWaterMark: bufferBytes });
    const { ring, lastEventId, now } = options;
    this.#options = options;
    this.#beatAt = now;
    this.#pulledAt = now;
    const resumed = lastEventId === undefined ? ring.last : ring.numberIn(lastEventId);
    this.#position = resumed ?? ring.last;
    const id = ring.idOf(this.#position);
    this.#push(resumed === undefined ? resetText(id) : heartbeatText(id));
  }

  override _read(): void {
    this.#wantsText = true;
    this.flush();
  }

  /** Sends pending changes as far as the reader reads. Drops a reader behind the ring. */
  flush(): void {
    const { ring, textOf } = this.#options;
    if (!ring.canResumeAfter(this.#position)) this.destroy();
    while (this.#wantsText && !this.destroyed && this.#position < ring.last) {
      this.#position += 1;
      const entry = ring.at(this.#position);
      const text = entry && textOf(entry, this.#position);
      if (text !== undefined) this.#push(text);
    }
  }

  /** Ends the stream in time, drops a stalled reader, and sends a due heartbeat. */
  tick(now: number): void {
    const { endsAt, ring } = this.#options;
    if (this.#wantsText) this.#pulledAt = now;
    if (now >= endsAt) this.end();
    else if (now - this.#pulledAt >= longestStallMs) this.destroy();
    if (this.destroyed || this.#hasEnded || now - this.#beatAt < heartbeatMs) return;
    this.#beatAt = now;
    if (this.#wantsText) this.#push(heartbeatText(ring.idOf(this.#position)));
    void this.#endWithoutRights();
  }

  /** Ends the stream; clients connect again with their last event id. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#wantsText = false;
    this.push(null);
  }

  async #endWithoutRights(): Promise<void> {
    if (!(await this.#options.isAdmitted())) this.end();
  }

  #push(text: string): void {
    if (!this.#hasEnded) this.#wantsText = this.push(text);
  }
}
