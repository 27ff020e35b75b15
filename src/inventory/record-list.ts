import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InventoryRecord } from '../api/inventory-http.ts';
import { HttpProblem } from '../http/problem.ts';
import type { NodeConfigFilter } from '../store/node-configs.ts';
import type { Store } from '../store/store.ts';

/** Rows handled per event-loop turn: other requests and the lease renewal need turns, too. */
const batchRows = 200;

/** Maximum number of concurrent long lists. Each occupies up to two batches in limited memory. */
const maxLongLists = 4;

/** Records for one answer. */
export interface RecordList {
  /** JSON array text, batch by batch. */
  readonly body: Readable;
  /** Last record on a full page; undefined: no further page. */
  readonly last: InventoryRecord | undefined;
  readonly isEmpty: boolean;
}

/** Adds observed data to records. */
export type Decorate = (records: readonly InventoryRecord[]) => Promise<readonly unknown[]>;

/** Builds answers from batches, so that long lists do not block the process. */
export class RecordLists {
  readonly #store: Pick<Store, 'list'>;
  #readers = 0;

  constructor(store: Pick<Store, 'list'>) {
    this.#store = store;
  }

  /**
   * Returns all records that match the filter, up to `filter.limit`. Throws 503 for a result beyond one batch while
   * too many long lists are in progress.
   */
  async read(filter: NodeConfigFilter, decorate: Decorate): Promise<RecordList> {
    const { limit = Number.POSITIVE_INFINITY } = filter;
    const first = await this.#store.list({ ...filter, limit: Math.min(limit, batchRows) });
    const isEmpty = first.length === 0;
    if (first.length < batchRows || limit <= batchRows) {
      const last = first.length === limit ? first.at(-1) : undefined;
      return { body: Readable.from(jsonArray(inOneBatch(first), decorate)), last, isEmpty };
    }
    const release = this.#take();
    try {
      const batches = this.#batches(first, filter);
      // A page sends its last record in a header, before the body.
      if (filter.limit !== undefined) return await page(batches, filter.limit, decorate, release);
      const body = Readable.from(jsonArray(batches, decorate)).once('close', release);
      return { body, last: undefined, isEmpty };
    } catch (error) {
      release();
      throw error;
    }
  }

  async *#batches(first: InventoryRecord[], filter: NodeConfigFilter) {
    let left = (filter.limit ?? Number.POSITIVE_INFINITY) - first.length;
    let found = first;
    for (;;) {
      yield found;
      const after = found.at(-1);
      if (left <= 0 || found.length < batchRows || after === undefined) return;
      await nextTurn();
      found = await this.#store.list({ ...filter, after, limit: Math.min(left, batchRows) });
      left -= found.length;
    }
  }

  #take(): () => void {
    if (this.#readers >= maxLongLists) {
      const detail = `${maxLongLists} long lists are already being read; repeat the request, or read pages with limit=${batchRows}`;
      throw new HttpProblem(503, 'TooManyReaders', detail, { retryAfterSeconds: 5 });
    }
    this.#readers += 1;
    let isActive = true;
    return () => {
      if (isActive) this.#readers -= 1;
      isActive = false;
    };
  }
}

type Batches = AsyncIterable<readonly InventoryRecord[]>;

async function* inOneBatch(records: readonly InventoryRecord[]): Batches {
  yield records;
}

async function page(
  batches: Batches,
  limit: number,
  decorate: Decorate,
  release: () => void,
): Promise<RecordList> {
  let count = 0;
  let last: InventoryRecord | undefined;
  async function* counted(): Batches {
    for await (const batch of batches) {
      count += batch.length;
      last = batch.at(-1) ?? last;
      yield batch;
    }
  }
  const text: string[] = [];
  for await (const part of jsonArray(counted(), decorate)) text.push(part);
  const body = Readable.from(text).once('close', release);
  return { body, last: count === limit ? last : undefined, isEmpty: count === 0 };
}

async function* jsonArray(batches: Batches, decorate: Decorate): AsyncGenerator<string> {
  let separator = '[';
  for await (const batch of batches) {
    const items = (await decorate(batch)).map((item) => JSON.stringify(item));
    if (items.length === 0) continue;
    yield separator + items.join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
