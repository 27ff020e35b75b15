import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ScreenAnswer, ScreenName } from '../../api/dashboard/screens.ts';
import { type Change, feed } from './live-feed.ts';
import { type Problem, readJson } from './read-json.ts';

export interface ReadOptions {
  /** Shortest time between two reads (ms). */
  readonly pauseMs?: number;
  /** Time between two reads without any event (ms); absent: read after events only. */
  readonly pollMs?: number;
  /** Returns whether a change concerns the screen; absent: all changes do. */
  readonly concerns?: (change: Change) => boolean;
}

/** Shortest time between two reads (ms): a thousand changes a second give a single read. */
const usualPauseMs = 2_000;
/** Time between two reads while no stream exists (ms). */
const withoutStreamMs = 15_000;
const tickMs = 1_000;

/** A screen's answer, read again after changes while the tab is visible. */
export class ScreenReader<T> {
  readonly data = signal<T | undefined>(undefined);
  readonly problem = signal<Problem | undefined>(undefined);
  /** True: the data belong to a former path, such as a former filter. */
  readonly isFormer = signal(false);
  /** True: a change came after the last read's start. */
  #isStale = true;
  #isReading = false;
  #readAt = Number.NEGATIVE_INFINITY;

  /** Follows a path until the returned function is called. */
  follow(path: string, options: ReadOptions = {}): () => void {
    const { pauseMs = usualPauseMs, concerns = () => true } = options;
    const end = new AbortController();
    this.#isStale = true;
    this.#readAt = Number.NEGATIVE_INFINITY;
    const check = () => {
      const age = performance.now() - this.#readAt;
      const isDue = (this.#isStale && age >= pauseMs) || age >= pollMsOf(options);
      if (isDue && !this.#isReading && !document.hidden) void this.#read(path, end.signal);
    };
    this.#isReading = false;
    this.isFormer.value = this.data.value !== undefined;
    const stop = feed.onChange((change) => {
      if (change !== undefined && !concerns(change)) return;
      this.#isStale = true;
      check();
    });
    const timer = setInterval(check, tickMs);
    check();
    return () => {
      end.abort();
      stop();
      clearInterval(timer);
    };
  }

  async #read(path: string, end: AbortSignal): Promise<void> {
    this.#isReading = true;
    this.#isStale = false;
    this.#readAt = performance.now();
    try {
      const answer = await readJson<T>(path, end);
      if (answer.kind === 'data') this.data.value = answer.data;
      this.isFormer.value = false;
      this.problem.value = answer.kind === 'problem' ? answer.problem : undefined;
    } catch {
      return;
    }
    this.#isReading = false;
  }
}

function pollMsOf({ pollMs }: ReadOptions): number {
  return pollMs ?? (feed.mode.value === 'polling' ? withoutStreamMs : Number.POSITIVE_INFINITY);
}

/** Reads a screen. While a different path of the same screen is read, the former data stay. */
export function useScreen<Name extends ScreenName>(
  name: Name,
  path: string,
  options: ReadOptions = {},
): ScreenReader<ScreenAnswer<Name>> {
  const reader = useMemo(() => new ScreenReader<ScreenAnswer<Name>>(), [name]);
  useEffect(() => reader.follow(path, options), [reader, path]);
  return reader;
}
