import { signal } from '@preact/signals';
import { tabEventsPath } from '../../api/dashboard-names.ts';
import type { ChangeEvent } from '../../api/events-http.ts';
import { EventText, type StreamEvent } from './event-text.ts';
import { problemOf } from './read-json.ts';

/** `polling`: no stream exists, screens read again by time. */
export type FeedMode = 'connecting' | 'live' | 'polling';

/** `undefined`: anything may have changed. */
export type Change = ChangeEvent | undefined;

/** Time without an event until the page calls itself not live (ms): two heartbeats. */
export const silentMs = 30_000;
/** Time without any byte until the connection counts as dead (ms). */
const deadMs = 45_000;
const shortestPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Pause until the next attempt if the server has no stream, or no login (ms). */
const noStreamPauseMs = 60_000;

export interface FeedSource {
  /** Requests the stream after `lastId`; undefined: from now on. */
  readonly request: (lastId: string | undefined, end: AbortSignal) => Promise<Response>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly pause: (ms: number, end: AbortSignal) => Promise<void>;
}

/** Stream of changes for the visible tab. */
export class LiveFeed {
  readonly mode = signal<FeedMode>('connecting');
  /** The operator's last event, by the source's clock; the start counts as an event. */
  readonly lastEventAt = signal(0);
  readonly #source: FeedSource;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #text = new EventText();
  #connection: AbortController | undefined;

  constructor(source: FeedSource = browserSource) {
    this.#source = source;
    this.lastEventAt.value = source.now();
  }

  /** Calls the listener with every change; returns a function for the unsubscription. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the stream after the last event; the tab is visible. */
  open(): void {
    if (this.#connection) return;
    this.#connection = new AbortController();
    this.lastEventAt.value = this.#source.now();
    this.#tell(undefined);
    void this.#follow(this.#connection.signal);
  }

  /** Closes the stream; the tab is hidden. */
  close(): void {
    this.#connection?.abort();
    this.#connection = undefined;
  }

  async #follow(tab: AbortSignal): Promise<void> {
    let pauseMs = shortestPauseMs;
    while (!tab.aborted) {
      const nextMs = await this.#readStream(tab);
      pauseMs = nextMs === 'events' ? shortestPauseMs : Math.min(pauseMs * 2, longestPauseMs);
      await this.#source.pause(typeof nextMs === 'number' ? nextMs : pauseMs, tab);
    }
  }

  /** Returns whether events came, or a pause (ms) until the next attempt. */
  async #readStream(tab: AbortSignal): Promise<'events' | 'nothing' | number> {
    const attempt = new AbortController();
    const end = AbortSignal.any([tab, attempt.signal]);
    try {
      const response = await this.#source.request(this.#text.lastId, end);
      if (!response.ok) return await this.#refused(response);
      return await this.#readBody(response.body, end);
    } catch {
      return 'nothing';
    } finally {
      attempt.abort();
    }
  }

  async #refused(response: Response): Promise<'nothing' | number> {
    await problemOf(response);
    this.mode.value = 'polling';
    const retryAfter = Number(response.headers.get('retry-after'));
    if (response.status === 404 || response.status === 401) return noStreamPauseMs;
    return retryAfter > 0 ? retryAfter * 1_000 : 'nothing';
  }

  async #readBody(
    body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
    end: AbortSignal,
  ): Promise<'events' | 'nothing'> {
    if (body === null) return 'nothing';
    this.#text.restart();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let count = 0;
    while (!end.aborted) {
      const part = await this.#nextPart(reader);
      if (part === undefined) break;
      const events = this.#text.take(part);
      count += events.length;
      for (const event of events) this.#takeEvent(event);
    }
    return count > 0 ? 'events' : 'nothing';
  }

  /** Returns the next text; undefined: the stream ended, or is silent for too long. */
  async #nextPart(reader: ReadableStreamDefaultReader<string>): Promise<string | undefined> {
    const read = new AbortController();
    const silence = this.#source.pause(deadMs, read.signal).then(() => undefined);
    try {
      const part = await Promise.race([reader.read(), silence]);
      return part?.value;
    } finally {
      read.abort();
    }
  }

  #takeEvent({ name, data }: StreamEvent): void {
    this.lastEventAt.value = this.#source.now();
    this.mode.value = name === 'polling' ? 'polling' : 'live';
    if (name === 'reset') this.#tell(undefined);
    if (name === 'message') this.#tell(changeIn(data));
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** A later server may send unreadable data: anything may have changed. */
function changeIn(data: string): Change {
  try {
    return JSON.parse(data) as ChangeEvent;
  } catch {
    return undefined;
  }
}

const browserSource: FeedSource = {
  request: (lastId, end) =>
    fetch(tabEventsPath, {
      signal: end,
      cache: 'no-store',
      headers: { accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) },
    }),
  now: () => performance.now(),
  pause: (ms, end) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      end.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    }),
};

/** This tab's feed. */
export const feed = new LiveFeed();

/** Opens the feed while the tab is visible. */
export function followVisibility(): void {
  document.addEventListener('visibilitychange', openIfVisible);
  openIfVisible();
}

function openIfVisible(): void {
  if (document.hidden) feed.close();
  else feed.open();
}
