import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InventoryRecord } from '../api/inventory-http.ts';
import { HttpProblem } from '../http/problem.ts';
import type { NodeConfigFilter } from '../store/node-configs.ts';
import type { Store } from '../store/store.ts';

/** Rows read, parsed and written in one turn of the event loop: other requests and the lease need theirs. */
const rowsPerTurn = 200;

/** Readers of long lists at a time. Each holds up to two batches; the operator has a memory limit. */
const mostReaders = 4;

/** Records of one answer. */
export interface RecordList {
  /** JSON text of the array, a batch at a time. */
  readonly body: Readable;
  /** The last record of a page that may have a successor. */
  readonly last: InventoryRecord | undefined;
  readonly isEmpty: boolean;
}

/** Adds to records what is not part of their rows. */
export type Decorate = (records: readonly InventoryRecord[]) => Promise<readonly unknown[]>;

/** Makes answers of any length out of batches, so that none of them stops the process. */
export class RecordLists {
  readonly #store: Pick<Store, 'list'>;
  #readers = 0;

  constructor(store: Pick<Store, 'list'>) {
    this.#store = store;
  }

  /**
   * Returns the records that match the filter, all of them without `filter.limit`. Throws 503 when there is more than one
   * batch and too many readers have such a list already.
   */
  async read(filter: NodeConfigFilter, decorate: Decorate): Promise<RecordList> {
    const { limit = Number.POSITIVE_INFINITY } = filter;
    const first = await this.#store.list({ ...filter, limit: Math.min(limit, rowsPerTurn) });
    const isEmpty = first.length === 0;
    if (first.length < rowsPerTurn || limit <= rowsPerTurn) {
      const last = first.length === limit ? first.at(-1) : undefined;
      return { body: Readable.from(jsonArray(inOneBatch(first), decorate)), last, isEmpty };
    }
    const release = this.#take();
    try {
      const batches = this.#batches(first, filter);
      // A page names its last record in a header, which is sent before the first byte.
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
      if (left <= 0 || found.length < rowsPerTurn || after === undefined) return;
      await nextTurn();
      found = await this.#store.list({ ...filter, after, limit: Math.min(left, rowsPerTurn) });
      left -= found.length;
    }
  }

  #take(): () => void {
    if (this.#readers >= mostReaders) {
      const detail = `${mostReaders} long lists are being read already; repeat it, or read pages with limit=${rowsPerTurn}`;
      throw new HttpProblem(503, 'TooManyReaders', detail, { retryAfterSeconds: 5 });
    }
    this.#readers += 1;
    let held = true;
    return () => {
      if (held) this.#readers -= 1;
      held = false;
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
