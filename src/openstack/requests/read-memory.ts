import { createHash } from 'node:crypto';
import { BoundedMemory } from '../../process/bounded-memory.ts';
import type { HttpAnswer } from '../../requests/transport.ts';
import type { Query } from './service-client.ts';

/** Page from a list, as last read. */
export interface Page<T> {
  readonly digest: string;
  readonly items: readonly T[];
  readonly next: Query | undefined;
}

/**
 * Capacity: each list, id and item counts 1, enough for 10,000 servers with five ports each in lists with 100 ids.
 */
const capacity = 100 * (1 + 100 + 500);

interface StoredList<T> {
  readonly list: string;
  readonly pages: readonly Page<T>[];
  readonly ids: readonly string[];
}

/**
 * Pages from the latest read per list; a page with unchanged bytes is not parsed again. Lists that are no longer read
 * are dropped even below capacity, because no other cache shares their items.
 */
export class ReadMemory<T> {
  /** By list name. */
  readonly #lists = new BoundedMemory<StoredList<T>>(capacity, (known) => this.#forgetIds(known));
  /** Name of the last list that contained the id. */
  readonly #listOf = new Map<string, string>();

  /** Returns the list's page at this index if the bytes are unchanged. */
  find(list: string, at: number, digest: string): Page<T> | undefined {
    const page = this.#lists.peek(list)?.pages[at];
    return page?.digest === digest ? page : undefined;
  }

  /** `ids`: the list's filter. Other lists that share any id are dropped. */
  set(list: string, pages: readonly Page<T>[], ids: readonly string[] = []): void {
    for (const id of ids) {
      const earlier = this.#listOf.get(id);
      if (earlier !== undefined) this.#lists.drop(earlier);
    }
    const size = pages.reduce((sum, { items }) => sum + items.length, 1 + ids.length);
    this.#lists.set(list, { list, pages, ids }, size);
    if (this.#lists.peek(list)) for (const id of ids) this.#listOf.set(id, list);
    this.#lists.dropIdle();
  }

  #forgetIds({ list, ids }: StoredList<T>): void {
    for (const id of ids) if (this.#listOf.get(id) === list) this.#listOf.delete(id);
  }
}

/** Hashes the body. */
export function digestOf(answer: Pick<HttpAnswer, 'chunks' | 'text'>): string {
  const digest = createHash('sha256');
  for (const chunk of answer.chunks ?? [answer.text]) digest.update(chunk);
  return digest.digest('base64');
}
