import { hash } from 'node:crypto';
import { BoundedMemory } from '../../process/bounded-memory.ts';
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
  /** By the name of the list. */
  readonly #lists = new BoundedMemory<readonly Page<T>[]>(mostItems);

  /** The page at this place of a list, if it had the same bytes. */
  find(list: string, at: number, digest: string): Page<T> | undefined {
    const page = this.#lists.peek(list)?.[at];
    return page?.digest === digest ? page : undefined;
  }

  set(list: string, pages: readonly Page<T>[]): void {
    const size = pages.reduce((sum, { items }) => sum + items.length, 0);
    this.#lists.set(list, pages, size);
  }
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64');
}
