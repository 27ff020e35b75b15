import { hash } from 'node:crypto';
import type { Query } from './service-client.ts';

/** A page of a list as it was read. */
export interface Page<T> {
  readonly digest: string;
  readonly items: readonly T[];
  readonly next: Query | undefined;
}

/** 10,000 servers with five ports each; the items are those that their reader keeps anyway. */
const mostItems = 50_000;

/** The pages of lists as they were read last: a page of the same bytes is not parsed again. */
export class ReadMemory<T> {
  /** By the query of the list, in the order of their last use. */
  readonly #lists = new Map<string, readonly Page<T>[]>();
  #size = 0;

  /** The page at this place of a list, if it had the same bytes. */
  find(list: string, at: number, digest: string): Page<T> | undefined {
    const page = this.#lists.get(list)?.[at];
    return page?.digest === digest ? page : undefined;
  }

  set(list: string, pages: readonly Page<T>[]): void {
    this.#drop(list);
    this.#lists.set(list, pages);
    this.#size += sizeOf(pages);
    for (const oldest of this.#lists.keys()) {
      if (this.#size <= mostItems) break;
      this.#drop(oldest);
    }
  }

  #drop(list: string): void {
    this.#size -= sizeOf(this.#lists.get(list) ?? []);
    this.#lists.delete(list);
  }
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}

function sizeOf(pages: readonly Page<unknown>[]): number {
  return pages.reduce((sum, { items }) => sum + items.length, 0);
}
