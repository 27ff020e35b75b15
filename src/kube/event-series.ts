import type { EventNote, Notice } from './event-object.ts';
import { type KubeObject, keyOf } from './object.ts';

/** Maximum series, one for each object in a large cluster. */
const maxSeries = 10_000;

/** Writes for one object and reason; stays in memory after the writes, hence small. */
export interface Series {
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

/** Series by object and reason; evicts the least recently used series. */
export class EventSeries {
  readonly #byKey = new Map<string, Series>();

  /** Counts a note, and returns the note's series. `timestamp`: start time for a new series. */
  count(involved: KubeObject, { reason }: EventNote, timestamp: string): Series {
    const key = `${involved.kind}/${keyOf(involved)}/${involved.metadata.uid}/${reason}`;
    const series = this.#byKey.get(key) ?? {
      firstTimestamp: timestamp,
      name: undefined,
      nextName: undefined,
      notice: undefined,
      count: 0,
      writtenAtMs: undefined,
    };
    series.count++;
    this.#byKey.delete(key);
    this.#byKey.set(key, series);
    const [oldest] = this.#byKey.keys();
    if (this.#byKey.size > maxSeries && oldest !== undefined) this.#byKey.delete(oldest);
    return series;
  }
}
