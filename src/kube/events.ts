import { createHash } from 'node:crypto';
import type { Clock } from '../time/clock.ts';
import type { KubeClient } from './client/client.ts';
import { type EventObject, events } from './core-resources.ts';
import { isNotFound } from './errors.ts';
import { type KubeObject, keyOf } from './object.ts';

/** One write per object and reason in this time; what comes in between is only counted. */
const quietMs = 300_000;
const maxRemembered = 1_000;
const maxWriting = 50;
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
  /** An event that could not be written; work never fails because of it. */
  readonly onError?: (error: unknown) => void;
}

export interface EventRecorder {
  /** Records in the background; never throws. */
  record(involved: KubeObject, note: EventNote): void;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

interface Series {
  readonly involved: KubeObject;
  readonly firstTimestamp: string;
  /** Name of the Event that counts this series; undefined until it is written. */
  name: string | undefined;
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
  const remembered = new Map<string, Series>();
  const writing = new Set<Promise<void>>();

  function record(involved: KubeObject, note: EventNote): void {
    const series = seriesOf(involved, note);
    const now = clock.monotonicMs();
    if (series.writtenAtMs !== undefined && now - series.writtenAtMs < quietMs) return;
    if (writing.size >= maxWriting) {
      onError(new Error(`event ${note.reason} of ${keyOf(involved)} dropped: ${maxWriting} wait`));
      return;
    }
    series.writtenAtMs = now;
    const written: Promise<void> = write(series)
      .catch(onError)
      .finally(() => writing.delete(written));
    writing.add(written);
  }

  /** Counts the note; the least recently used series is forgotten first. */
  function seriesOf(involved: KubeObject, note: EventNote): Series {
    const key = `${involved.kind}/${keyOf(involved)}/${involved.metadata.uid}/${note.reason}`;
    const series = remembered.get(key) ?? {
      involved,
      firstTimestamp: timestamp(clock),
      name: undefined,
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

  async function write(series: Series): Promise<void> {
    const { count, note, name } = series;
    if (name !== undefined) {
      const patch = { count, lastTimestamp: timestamp(clock), message: messageOf(note) };
      try {
        await client.patch(events, { namespace: namespaceOf(series), name }, patch);
        return;
      } catch (error) {
        // The API server drops an Event an hour after its last write.
        if (!isNotFound(error)) throw error;
      }
    }
    const created = await client.create(events, eventOf(series));
    series.name = created.metadata.name;
  }

  function eventOf(series: Series) {
    const { involved, note, count, firstTimestamp } = series;
    const { name, namespace, uid, resourceVersion } = involved.metadata;
    return {
      metadata: { name: nameOf(series), namespace: namespaceOf(series) },
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

  /** Different for each component, object, reason and time; a valid name whatever the object is called. */
  function nameOf({ involved, note }: Series): string {
    const { name, uid } = involved.metadata;
    const what = createHash('sha256').update(`${component}/${uid}/${note.reason}`).digest('hex');
    const stem = name.slice(0, 200).replace(/[^a-z0-9]+$/, '');
    return `${stem}.${what.slice(0, 8)}${clock.now().getTime().toString(16)}`;
  }

  return {
    record,
    async settled() {
      await Promise.all(writing);
    },
  };
}

/** Events about cluster-scoped objects live in `default`: the API server refuses them elsewhere. */
function namespaceOf({ involved }: Series): string {
  return involved.metadata.namespace ?? 'default';
}

function messageOf({ message }: EventNote): string {
  return message.slice(0, maxMessageLength);
}

/** metav1.Time has whole seconds. */
function timestamp(clock: Clock): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`;
}
