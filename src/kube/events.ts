import { createHash } from 'node:crypto';
import { backoffMs } from '../time/backoff.ts';
import { type Clock, passed, type Random } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import type { KubeClient } from './client/client.ts';
import { type EventObject, events } from './core-resources.ts';
import { isAlreadyExists, isNotFound, KubeError } from './errors.ts';
import { LeaseLostError } from './lease/lease-lock.ts';
import { type KubeObject, keyOf } from './object.ts';

/** One write per object and reason in this time; what comes in between is only counted. */
const quietMs = 300_000;
/** As many as there may be objects in a cluster. */
const maxRemembered = 10_000;
const maxWaiting = 10_000;
/** Written at once: events must not take the connections that work needs. */
const maxWriting = 8;
/** Of a server that is busy or away, 15 s in all; then the event is given up. */
const retries = 5;
const backoff = { baseMs: 500, maxMs: 10_000 };
/** So long what is left when the work ends may take; whoever ends in order has 25 s for everything. */
const endMs = 5_000;
const maxMessageLength = 1_024;

export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase word of the table of reasons. */
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  /** Name of the part, shown by `kubectl describe`. */
  readonly component: string;
  readonly clock: Clock;
  /** Jitter of repeats (default: none). */
  readonly random?: Random;
  /** An event that could not be written; work never fails because of it. */
  readonly onError?: (error: unknown) => void;
}

export interface EventRecorder {
  /** Records in the background while `during` says that this process may write, otherwise nothing; never throws. */
  record(involved: KubeObject, note: EventNote): void;
  /**
   * Writes what is recorded while `work` goes on, and what is left then within 5 s. When `leading` aborts because the
   * lease was lost, everything that is under way is broken off: somebody else writes now.
   */
  during<T>(leading: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** The time in which a process may write Events. */
interface Term {
  /** Aborted when nothing may be written any more. */
  readonly over: AbortController;
  /** Aborted when the work has ended: what failed is not tried again. */
  readonly hurry: AbortController;
}

/** What an Event says of its object; the rest of it would only be kept in memory. */
type Involved = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

interface Series {
  readonly involved: Involved;
  readonly firstTimestamp: string;
  /** Name of the Event that counts this series; undefined until it is written. */
  name: string | undefined;
  /** Under which it is being created; the same in each try. */
  nextName: string | undefined;
  note: EventNote;
  count: number;
  writtenAtMs: number | undefined;
}

/**
 * Writes core/v1 Events: every Kubernetes since 1.20 accepts them and `kubectl describe` shows them; events.k8s.io/v1
 * stores the same object. Needs the verbs create and patch.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, component, clock, onError = () => undefined } = options;
  const { random = () => 0.5 } = options;
  const remembered = new Map<string, Series>();
  const waiting: Series[] = [];
  const writing = new Set<Promise<void>>();
  let term: Term | undefined;

  function record(involved: KubeObject, note: EventNote): void {
    if (!term || term.over.signal.aborted) return;
    const series = seriesOf(involved, note);
    const now = clock.monotonicMs();
    if (series.writtenAtMs !== undefined && now - series.writtenAtMs < quietMs) return;
    if (waiting.length >= maxWaiting) {
      onError(new Error(`event ${note.reason} of ${keyOf(involved)} dropped: ${maxWaiting} wait`));
      return;
    }
    series.writtenAtMs = now;
    waiting.push(series);
    writeNext(term);
  }

  function writeNext(now: Term): void {
    if (now.over.signal.aborted || writing.size >= maxWriting) return;
    const next = waiting.shift();
    if (!next) return;
    const written: Promise<void> = writeOrRetry(next, now)
      .catch(onError)
      .finally(() => {
        writing.delete(written);
        writeNext(now);
      });
    writing.add(written);
  }

  /** Nobody works less because of it, but what people are told must not depend on one busy moment of the server. */
  async function writeOrRetry(series: Series, { over, hurry }: Term): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await write(series, over.signal);
        return;
      } catch (error) {
        const last = attempt >= retries || hurry.signal.aborted || !mayWorkLater(error);
        if (last || !(await passed(clock, backoffMs(attempt, backoff, random), hurry.signal))) {
          throw error;
        }
      }
    }
  }

  /** Counts the note; the least recently used series is forgotten first. */
  function seriesOf(involved: KubeObject, note: EventNote): Series {
    const key = `${involved.kind}/${keyOf(involved)}/${involved.metadata.uid}/${note.reason}`;
    const series = remembered.get(key) ?? {
      involved: essence(involved),
      firstTimestamp: timestamp(clock),
      name: undefined,
      nextName: undefined,
      note,
      count: 0,
      writtenAtMs: undefined,
    };
    series.count++;
    series.note = note;
    remembered.delete(key);
    remembered.set(key, series);
    const [oldest] = remembered.keys();
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
    return series;
  }

  async function write(series: Series, signal: AbortSignal): Promise<void> {
    const { count, note, name } = series;
    if (name !== undefined) {
      const patch = { count, lastTimestamp: timestamp(clock), message: messageOf(note) };
      try {
        await client.patch(events, { namespace: namespaceOf(series), name }, patch, { signal });
        return;
      } catch (error) {
        // The API server drops an Event an hour after its last write.
        if (!isNotFound(error)) throw error;
      }
    }
    series.nextName ??= nameOf(series);
    try {
      await client.create(events, eventOf(series, series.nextName), { signal });
    } catch (error) {
      // An earlier try was carried out and its answer was lost, or a process before this one has just said it.
      if (!isAlreadyExists(error)) throw error;
    }
    series.name = series.nextName;
    series.nextName = undefined;
  }

  function eventOf(series: Series, eventName: string) {
    const { involved, note, count, firstTimestamp } = series;
    const { name, namespace, uid, resourceVersion } = involved.metadata;
    return {
      metadata: { name: eventName, namespace: namespaceOf(series) },
      involvedObject: {
        ...(involved.apiVersion ? { apiVersion: involved.apiVersion } : {}),
        ...(involved.kind ? { kind: involved.kind } : {}),
        name,
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
        ...(resourceVersion ? { resourceVersion } : {}),
      },
      type: note.type,
      reason: note.reason,
      message: messageOf(note),
      source: { component },
      reportingComponent: component,
      reportingInstance: component,
      count,
      firstTimestamp,
      lastTimestamp: timestamp(clock),
    } satisfies EventObject;
  }

  /**
   * The same for each component, object and reason through five minutes: what a process said shortly before it ended, the
   * API server lets nobody say again. A valid name whatever the object is called.
   */
  function nameOf({ involved, note }: Series): string {
    const { name, uid } = involved.metadata;
    const what = createHash('sha256').update(`${component}/${uid}/${note.reason}`).digest('hex');
    const stem = name.slice(0, 200).replace(/[^a-z0-9]+$/, '');
    const slot = Math.floor(clock.now().getTime() / quietMs);
    return `${stem}.${what.slice(0, 8)}${slot.toString(16)}`;
  }

  async function during<T>(leading: AbortSignal, work: () => Promise<T>): Promise<T> {
    const now = { over: new AbortController(), hurry: new AbortController() };
    const end = (why: unknown): void => {
      now.over.abort(why);
      now.hurry.abort(why);
    };
    const onAbort = (): void => {
      if (leading.reason instanceof LeaseLostError) end(leading.reason);
    };
    leading.addEventListener('abort', onAbort, { once: true });
    if (leading.aborted) onAbort();
    term = now;
    try {
      return await work();
    } finally {
      now.hurry.abort();
      await writeRest(now);
      end(new Error('the work has ended'));
      // What was given up has not been said.
      for (const series of waiting.splice(0)) series.writtenAtMs = undefined;
      leading.removeEventListener('abort', onAbort);
    }
  }

  async function writeRest({ over }: Term): Promise<void> {
    const { signal } = over;
    try {
      await withDeadline({ clock, ms: endMs, signal }, async () => {
        while (writing.size > 0) await Promise.all(writing);
      });
    } catch (cause) {
      const left = waiting.length + writing.size;
      if (left > 0) onError(new Error(`${left} events are given up`, { cause }));
    }
  }

  return { record, during };
}

function essence({ apiVersion, kind, metadata }: KubeObject): Involved {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
    },
  };
}

/** No answer, or one that says that the server is busy or in trouble. */
function mayWorkLater(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.status === 0 || error.status === 429 || error.status >= 500)
  );
}

/** Events about cluster-scoped objects live in `default`: the API server refuses them elsewhere. */
function namespaceOf({ involved }: Series): string {
  return involved.metadata.namespace ?? 'default';
}

function messageOf({ message }: EventNote): string {
  // It may quote what somebody called something: a terminal would do what control characters say.
  return message
    .slice(0, maxMessageLength)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}

/** metav1.Time has whole seconds. */
function timestamp(clock: Clock): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`;
}
