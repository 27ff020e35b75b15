import { backoffMs } from '../time/backoff.ts';
import { type Clock, passed, type Random } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import type { KubeClient } from './client/client.ts';
import { events } from './core-resources.ts';
import { isAlreadyExists, isNotFound, KubeError } from './errors.ts';
import {
  type EventNote,
  eventOf,
  messageOf,
  type Notice,
  nameOf,
  namespaceOf,
  noticeOf,
} from './event-object.ts';
import { LeaseLostError } from './lease/lease-lock.ts';
import { type KubeObject, keyOf } from './object.ts';

/** At most one write per object and reason in this time; repeats are only counted. */
const repeatMs = 300_000;
/** Maximum series, one for each object in a large cluster. */
const maxSeries = 10_000;
const maxWaiting = 10_000;
/** Maximum concurrent writes: events must not occupy the connections work needs. */
const maxWriting = 8;
/** Retries for a busy or unreachable server, 15 s in total; then the event is dropped. */
const retries = 5;
const backoff = { baseMs: 500, maxMs: 10_000 };
/** Time for remaining events after the work ends; an orderly stop has 25 s in total. */
const endMs = 5_000;

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  /** The part's name, shown by `kubectl describe`. */
  readonly component: string;
  readonly clock: Clock;
  /** Retry jitter (default: none). */
  readonly random?: Random;
  /** Called when an event was not written; work never fails for this reason. */
  readonly onError?: (error: unknown) => void;
}

export interface EventRecorder {
  /** Records in the background while `during` runs, otherwise does nothing; never throws. */
  record(involved: KubeObject, note: EventNote): void;
  /**
   * Writes recorded events while `work` runs, and remaining events within 5 s afterwards. When `leading` aborts
   * because the lease was lost, running writes are aborted: another leader writes now.
   */
  during<T>(leading: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** A period in which this process may write Events. */
interface Term {
  /** Aborted when no write is allowed any more. */
  readonly stopped: AbortController;
  /** Aborted when the work has ended: failed writes are not retried. */
  readonly finishing: AbortController;
}

/** Writes for one object and reason; stays in memory after the writes, hence small. */
interface Series {
  readonly firstTimestamp: string;
  /** The Event's name for this series; undefined until written. */
  name: string | undefined;
  /** Name for the creation in progress, equal in each attempt. */
  nextName: string | undefined;
  /** The latest Event until it is written or dropped. */
  notice: Notice | undefined;
  count: number;
  writtenAtMs: number | undefined;
}

/**
 * Creates a recorder for core/v1 Events: every Kubernetes since 1.20 accepts them and `kubectl describe` shows them;
 * events.k8s.io/v1 stores the same object. Needs verbs create and patch.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, component, clock, onError = () => undefined } = options;
  const { random = () => 0.5 } = options;
  const seriesByKey = new Map<string, Series>();
  const waiting: Series[] = [];
  const writing = new Set<Promise<void>>();
  let term: Term | undefined;

  function record(involved: KubeObject, note: EventNote): void {
    if (!term || term.stopped.signal.aborted) return;
    const series = seriesOf(involved, note);
    const nowMs = clock.monotonicMs();
    if (series.notice) {
      series.notice = { ...series.notice, note };
      return;
    }
    if (series.writtenAtMs !== undefined && nowMs - series.writtenAtMs < repeatMs) return;
    if (waiting.length >= maxWaiting) {
      onError(
        new Error(
          `event ${note.reason} of ${keyOf(involved)} dropped: ${maxWaiting} events are already waiting`,
        ),
      );
      return;
    }
    series.writtenAtMs = nowMs;
    series.notice = noticeOf(involved, note);
    waiting.push(series);
    writeNext(term);
  }

  function writeNext(period: Term): void {
    if (period.stopped.signal.aborted || writing.size >= maxWriting) return;
    const next = waiting.shift();
    if (!next) return;
    const written: Promise<void> = writeOrRetry(next, period)
      .catch(onError)
      .finally(() => {
        next.notice = undefined;
        writing.delete(written);
        writeNext(period);
      });
    writing.add(written);
  }

  /** Retries: a busy moment at the API server must not hide an event from users. */
  async function writeOrRetry(series: Series, { stopped, finishing }: Term): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await write(series, stopped.signal);
        return;
      } catch (error) {
        const last = attempt >= retries || finishing.signal.aborted || !isTransient(error);
        if (last || !(await passed(clock, backoffMs(attempt, backoff, random), finishing.signal))) {
          throw error;
        }
      }
    }
  }

  /** Counts the note; evicts the least recently used series. */
  function seriesOf(involved: KubeObject, note: EventNote): Series {
    const key = `${involved.kind}/${keyOf(involved)}/${involved.metadata.uid}/${note.reason}`;
    const series = seriesByKey.get(key) ?? {
      firstTimestamp: timestamp(clock),
      name: undefined,
      nextName: undefined,
      notice: undefined,
      count: 0,
      writtenAtMs: undefined,
    };
    series.count++;
    seriesByKey.delete(key);
    seriesByKey.set(key, series);
    const [oldest] = seriesByKey.keys();
    if (seriesByKey.size > maxSeries && oldest !== undefined) seriesByKey.delete(oldest);
    return series;
  }

  async function write(series: Series, signal: AbortSignal): Promise<void> {
    const { count, firstTimestamp, notice, name } = series;
    if (!notice) return;
    const lastTimestamp = timestamp(clock);
    if (name !== undefined) {
      const patch = { count, lastTimestamp, message: messageOf(notice) };
      try {
        await client.patch(events, { namespace: namespaceOf(notice), name }, patch, { signal });
        return;
      } catch (error) {
        // The API server deletes an Event an hour after its last write.
        if (!isNotFound(error)) throw error;
      }
    }
    // The name is constant for five minutes: a restarted process cannot duplicate the Event.
    const slot = Math.floor(clock.now().getTime() / repeatMs);
    series.nextName ??= nameOf(component, notice, slot);
    const occurrences = { count, firstTimestamp, lastTimestamp };
    const event = eventOf(component, series.nextName, notice, occurrences);
    try {
      await client.create(events, event, { signal });
    } catch (error) {
      // An earlier attempt succeeded with a lost answer, or the previous process has just written this Event.
      if (!isAlreadyExists(error)) throw error;
    }
    series.name = series.nextName;
    series.nextName = undefined;
  }

  async function during<T>(leading: AbortSignal, work: () => Promise<T>): Promise<T> {
    const period = { stopped: new AbortController(), finishing: new AbortController() };
    const end = (why: unknown): void => {
      period.stopped.abort(why);
      period.finishing.abort(why);
    };
    const onAbort = (): void => {
      if (leading.reason instanceof LeaseLostError) end(leading.reason);
    };
    leading.addEventListener('abort', onAbort, { once: true });
    if (leading.aborted) onAbort();
    term = period;
    try {
      return await work();
    } finally {
      period.finishing.abort();
      await writeRest(period);
      end(new Error('the leadership term has ended'));
      // Dropped events were not written: a repeat must not count as recent.
      for (const series of waiting.splice(0)) {
        series.writtenAtMs = undefined;
        series.notice = undefined;
      }
      leading.removeEventListener('abort', onAbort);
    }
  }

  async function writeRest({ stopped }: Term): Promise<void> {
    const { signal } = stopped;
    try {
      await withDeadline({ clock, ms: endMs, signal }, async () => {
        while (writing.size > 0) await Promise.all(writing);
      });
    } catch (cause) {
      const left = waiting.length + writing.size;
      if (left > 0)
        onError(
          new Error(
            `${left} ${left === 1 ? 'event' : 'events'} not written before the end of the leadership term`,
            { cause },
          ),
        );
    }
  }

  return { record, during };
}

/** Returns true without an answer, or if the server is busy or failing. */
function isTransient(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.status === 0 || error.status === 429 || error.status >= 500)
  );
}

/** metav1.Time has whole seconds. */
function timestamp(clock: Clock): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`;
}
