import type { Found } from './resources.ts';

interface Gathering<T> {
  readonly ids: string[];
  readonly listed: Promise<ReadonlyMap<string, T>>;
}

interface GatheredReadsOptions<T> {
  readonly one: (id: string) => Promise<Found<T>>;
  /** Returns the listed resources with these ids. */
  readonly several: (ids: readonly string[]) => Promise<readonly T[]>;
}

/** Number that fits in a URL. */
const mostIds = 100;

/**
 * Batches reads by id: all ids requested in the same tick share one list. An id missing from the list gets its own
 * GET, because only a 404 for the resource proves its absence.
 */
export class GatheredReads<T extends { readonly id: string }> {
  readonly #options: GatheredReadsOptions<T>;
  #open: Gathering<T> | undefined;

  constructor(options: GatheredReadsOptions<T>) {
    this.#options = options;
  }

  async read(id: string): Promise<Found<T>> {
    const listed = await this.#join(id);
    const value = listed.get(id.toLowerCase());
    return value === undefined ? this.#options.one(id) : { kind: 'found', value };
  }

  async #join(id: string): Promise<ReadonlyMap<string, T>> {
    const open = this.#open ?? this.#begin();
    open.ids.push(id);
    if (open.ids.length === mostIds) this.#open = undefined;
    return open.listed;
  }

  #begin(): Gathering<T> {
    const ids: string[] = [];
    const begun = { ids, listed: this.#list(ids) };
    this.#open = begun;
    return begun;
  }

  async #list(ids: readonly string[]): Promise<ReadonlyMap<string, T>> {
    await Promise.resolve();
    if (this.#open?.ids === ids) this.#open = undefined;
    if (ids.length === 1) return new Map();
    const found = await this.#options.several(ids);
    return new Map(found.map((one) => [one.id, one]));
  }
}
