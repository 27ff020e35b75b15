import { hash } from 'node:crypto';
import { BoundedMemory } from '../../process/bounded-memory.ts';
import type { Query } from './service-client.ts';

/** A page of a list as it was read. */
export interface Page<T> {
  readonly digest: string;
  readonly items: readonly T[];
  readonly next: Query | undefined;
}

/** A list counts as one, and so does each of its ids and items: 10,000 servers with five ports each in lists of 100. */
const most = 100 * (1 + 100 + 500);

interface Known<T> {
  readonly list: string;
  readonly pages: readonly Page<T>[];
  readonly ids: readonly string[];
}

/**
 * The pages of lists as they were read last: a page of the same bytes is not parsed again. Lists that are read no longer are
 * dropped even while there is room, because no other cache holds their items.
 */
export class ReadMemory<T> {
  /** By the name of the list. */
  readonly #lists = new BoundedMemory<Known<T>>(most, (known) => this.#forgetIds(known));
  /** The list that each id was read in last. */
  readonly #listOf = new Map<string, string>();

  /** The page at this place of a list, if it had the same bytes. */
  find(list: string, at: number, digest: string): Page<T> | undefined {
    const page = this.#lists.peek(list)?.pages[at];
    return page?.digest === digest ? page : undefined;
  }

  /** `ids`: those that the list asks for; other lists that ask for one of them are dropped. */
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

  #forgetIds({ list, ids }: Known<T>): void {
    for (const id of ids) if (this.#listOf.get(id) === list) this.#listOf.delete(id);
  }
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}
