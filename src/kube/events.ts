import type { Clock, Random } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import type { KubeClient } from './client/client.ts';
import { type EventNote, noticeOf } from './event-object.ts';
import { EventSeries, type Series } from './event-series.ts';
import { createEventWriter, repeatMs, type Term, timestamp } from './event-writer.ts';
import { LeaseLostError } from './lease/lease-lock.ts';
import { type KubeObject, keyOf } from './object.ts';

const maxWaiting = 10_000;
/** Maximum concurrent writes: events must not occupy the connections work needs. */
const maxWriting = 8;
/** Time for remaining events after the work ends; an orderly stop has 25 s in total. */
const endMs = 5_000;

interface EventRecorderOptions {
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

/**
 * Creates a recorder for core/v1 Events: every Kubernetes since 1.20 accepts them and `kubectl describe` shows them;
 * events.k8s.io/v1 stores the same object. Needs verbs create and patch.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, component, clock, random = () => 0.5, onError = () => undefined } = options;
  const write = createEventWriter({ client, component, clock, random });
  const allSeries = new EventSeries();
  const waiting: Series[] = [];
  const writing = new Set<Promise<void>>();
  let term: Term | undefined;

  function record(involved: KubeObject, note: EventNote): void {
    if (!term || term.stopped.signal.aborted) return;
    const series = allSeries.count(involved, note, timestamp(clock));
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
    const written: Promise<void> = write(next, period)
      .catch(onError)
      .finally(() => {
        next.notice = undefined;
        writing.delete(written);
        writeNext(period);
      });
    writing.add(written);
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
            {
              cause,
            },
          ),
        );
    }
  }

  return { record, during };
}
