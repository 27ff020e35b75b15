import { randomUUID } from 'node:crypto';
import { tabEvents } from '../../api/dashboard.ts';
import type { Logger } from '../../process/log.ts';
import { EventStream } from '../../runtime/events/event-stream.ts';
import { changeText, namedText, resetText } from '../../runtime/events/event-text.ts';
import { Ring } from '../../runtime/events/ring.ts';
import { backoffMs } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import { PageProblem } from '../guard/page-problem.ts';
import type { Upstream, UpstreamEvent } from './upstream.ts';

/** Most open streams; a further stream gets 503. A browser opens at most 6 connections. */
export const mostTabs = 20;
/** Changes in memory: with 10 NICs a row takes 4.5 kB, and the ring at most 9 MB. */
const ringSize = 2_000;
/** Pause between two stream checks. */
const tickMs = 1_000;
/** Time without tabs until the upstream ends: a reload keeps the connection. */
export const idleMs = 60_000;
const reconnect = { baseMs: 1_000, maxMs: 30_000 };

export interface TabFeedOptions {
  readonly upstream: Upstream;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** An upstream event as stored for tabs. */
type Entry =
  | { readonly kind: 'change'; readonly data: string }
  | { readonly kind: 'reset' | 'heartbeat' | 'polling' };

/** Streams for tabs, fed by one upstream while tabs exist. */
export class TabFeed {
  readonly #options: TabFeedOptions;
  readonly #ring = new Ring<Entry>(randomUUID(), ringSize);
  readonly #streams = new Set<EventStream<Entry>>();
  /** The last upstream event; undefined: the upstream was never connected. */
  #lastId: string | undefined;
  /** Ends upstream and checks; undefined: no tab is open. */
  #running: AbortController | undefined;
  #failures = 0;
  /** Last time with a tab (monotonic milliseconds). */
  #usedAt = 0;

  constructor(options: TabFeedOptions) {
    this.#options = options;
  }

  /** Opens a tab's stream. Throws 503 if too many are open. */
  open(lastEventId: string | undefined, isAdmitted: () => Promise<boolean>): EventStream<Entry> {
    if (this.#streams.size >= mostTabs) throw tooManyTabs();
    const stream = new EventStream<Entry>({
      ring: this.#ring,
      lastEventId,
      now: this.#options.clock.monotonicMs(),
      endsAt: Number.POSITIVE_INFINITY,
      textOf: (entry, number) => this.#textOf(entry, number),
      isAdmitted,
    });
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    this.#start();
    return stream;
  }

  /** Ends all streams and the upstream: the dashboard ends. */
  end(): void {
    this.#running?.abort();
    for (const stream of this.#streams) stream.end();
  }

  #start(): void {
    this.#usedAt = this.#options.clock.monotonicMs();
    if (this.#running) return;
    this.#running = new AbortController();
    void this.#followUpstream(this.#running.signal);
    void this.#checkStreams(this.#running);
  }

  async #followUpstream(signal: AbortSignal): Promise<void> {
    const { upstream, clock, random, log } = this.#options;
    while (!signal.aborted) {
      try {
        await upstream.subscribe(this.#lastId, (event) => this.#take(event), signal);
      } catch (err) {
        if (!signal.aborted) log.debug({ err }, 'event stream of the operator failed');
      }
      const ms = backoffMs(this.#failures, reconnect, random);
      this.#failures += 1;
      if (!(await passed(clock, ms, signal))) return;
    }
  }

  /** Tabs may have read their lists before the first connection: they read again. */
  #take(event: UpstreamEvent): void {
    if (event.kind === 'polling') this.#takePolling();
    else this.#takeSent(event);
    for (const stream of this.#streams) stream.flush();
  }

  /** A later stream begins with a reset: its changes before are unknown. */
  #takePolling(): void {
    this.#lastId = undefined;
    this.#ring.add({ kind: 'polling' });
  }

  #takeSent(event: Exclude<UpstreamEvent, { kind: 'polling' }>): void {
    const isGap = this.#lastId === undefined || event.kind === 'reset';
    this.#lastId = event.id;
    this.#failures = 0;
    if (isGap) this.#ring.add({ kind: 'reset' });
    if (event.kind !== 'reset') this.#ring.add(event);
  }

  async #checkStreams(running: AbortController): Promise<void> {
    const { clock } = this.#options;
    while (await passed(clock, tickMs, running.signal)) {
      const now = clock.monotonicMs();
      for (const stream of this.#streams) stream.tick(now);
      if (this.#streams.size > 0) this.#usedAt = now;
      if (now - this.#usedAt < idleMs) continue;
      running.abort();
      this.#running = undefined;
    }
  }

  /** Returns the event for a tab; undefined: an old heartbeat, or an old word about polling. */
  #textOf(entry: Entry, number: number): string | undefined {
    const id = this.#ring.idOf(number);
    // A line break would begin a new field; JSON reads a line break as a space.
    if (entry.kind === 'change') return changeText(id, entry.data.replaceAll(/[\r\n]/g, ' '));
    if (entry.kind === 'reset') return resetText(id);
    return number === this.#ring.last ? namedText(tabEvents[entry.kind], id) : undefined;
  }
}

function tooManyTabs(): PageProblem {
  return new PageProblem(
    503,
    {
      reason: 'TooManyTabs',
      message: `${mostTabs} tabs are open`,
      nextStep: 'close tabs of the dashboard',
    },
    { retryAfterSeconds: 30 },
  );
}
