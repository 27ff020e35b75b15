import { backoffMs } from '../time/backoff.ts';
import { type Clock, passed, type Random } from '../time/clock.ts';
import type { KubeClient } from './client/client.ts';
import { events } from './core-resources.ts';
import { isAlreadyExists, isNotFound, KubeError } from './errors.ts';
import { eventOf, messageOf, nameOf, namespaceOf } from './event-object.ts';
import type { Series } from './event-series.ts';

/** At most one write per object and reason in this time; repeats are only counted. */
export const repeatMs = 300_000;
/** Retries for a busy or unreachable server, 15 s in total; then the event is dropped. */
const retries = 5;
const backoff = { baseMs: 500, maxMs: 10_000 };

interface EventWriterOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  /** The part's name, shown by `kubectl describe`. */
  readonly component: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** A period in which this process may write Events. */
export interface Term {
  /** Aborted when no write is allowed any more. */
  readonly stopped: AbortController;
  /** Aborted when the work has ended: failed writes are not retried. */
  readonly finishing: AbortController;
}

/** Writes the latest Event of a series, with retries. */
type WriteEvent = (series: Series, term: Term) => Promise<void>;

export function createEventWriter(options: EventWriterOptions): WriteEvent {
  const { client, component, clock, random } = options;

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

  return writeOrRetry;
}

/** Returns true without an answer, or if the server is busy or failing. */
function isTransient(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.status === 0 || error.status === 429 || error.status >= 500)
  );
}

/** metav1.Time has whole seconds. */
export function timestamp(clock: Clock): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`;
}
