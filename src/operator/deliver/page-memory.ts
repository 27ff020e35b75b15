import type { NodePage } from './viola-answer.ts';

/** A page of Viola's list with the ETag that it was sent with. */
export interface TaggedPage {
  readonly tag: string;
  readonly page: NodePage;
  /** Characters of its JSON: the measure of its size. */
  readonly size: number;
}

/** Parsed pages take two to three times as much: those of some 5,000 nodes. */
const mostCharacters = 8 * 1024 * 1024;

/** The last pages that Violas sent, so that a page that has not changed is neither sent nor parsed again. */
export class PageMemory {
  /** In the order of their last use. */
  readonly #pages = new Map<string, TaggedPage>();
  #size = 0;

  get(key: string): TaggedPage | undefined {
    const known = this.#pages.get(key);
    if (known === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, known);
    return known;
  }

  set(key: string, page: TaggedPage): void {
    this.drop(key);
    this.#pages.set(key, page);
    this.#size += page.size;
    for (const oldest of this.#pages.keys()) {
      if (this.#size <= mostCharacters) break;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    this.#size -= this.#pages.get(key)?.size ?? 0;
    this.#pages.delete(key);
  }
}
