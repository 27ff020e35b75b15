import * as z from 'zod';
import { inTurns } from '../../process/slices.ts';
import { RequestError } from '../../requests/request-error.ts';
import type { HttpAnswer } from '../../requests/transport.ts';
import { flawIn, jsonOf, parseAs } from './answer-failure.ts';
import { digestOf, type Page, type ReadMemory } from './read-memory.ts';
import type { Query, Read, ServiceClient } from './service-client.ts';

interface MemorySlot<T> {
  readonly pages: ReadMemory<T>;
  /** List name in the memory. */
  readonly name: string;
  /** Ids in the list's filter, if any. */
  readonly ids?: readonly string[];
}

export interface Listing<T> extends Read {
  /** The list's key in the body; links are under `<key>_links`. */
  readonly key: string;
  readonly item: z.ZodType<T>;
  readonly idOf: (item: T) => string;
  /** Returns a placeholder for an item with an unreadable field; undefined: such an item fails the list. */
  readonly placeholder?: (raw: unknown, flaw: string) => T;
  /** Status with which this service reports a deleted marker. */
  readonly markerGone: number;
  /** Page memory for repeated reads; undefined: none. */
  readonly memory?: MemorySlot<T> | undefined;
  /** Post-processes a page's items after parsing. */
  readonly tidy?: (items: readonly T[]) => readonly T[];
  /** True if the items read so far suffice; further pages are then skipped. */
  readonly suffices?: (found: ReadonlyMap<string, T>) => boolean;
}

const restarts = 3;
const linksSchema = z.array(z.object({ rel: z.string(), href: z.string() })).default([]);

/**
 * Reads a list completely, by id. Servers may page on their own (`pagination_max_limit`), so every `next` link is
 * followed. The list restarts when the marker's resource was deleted meanwhile.
 */
export async function readPages<T>(
  client: ServiceClient,
  listing: Listing<T>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, T>> {
  for (let restart = 0; restart <= restarts; restart++) {
    const found = await readOnce(client, listing, signal);
    if (found !== undefined) return found;
  }
  throw new RequestError(`GET ${listing.path}: the list changed during every read`, {
    service: client.service,
    kind: 'badAnswer',
  });
}

/** Returns the whole list; undefined: a marker was deleted. */
async function readOnce<T>(
  client: ServiceClient,
  listing: Listing<T>,
  signal: AbortSignal,
): Promise<Map<string, T> | undefined> {
  const found = new Map<string, T>();
  const { path, timeoutMs, headers } = listing;
  const pages: Page<T>[] = [];
  const followed = new Set<string>();
  let query = listing.query;
  for (;;) {
    const read = { path, query, timeoutMs, headers };
    const answer = await client.read(read, signal);
    if (pages.length > 0 && answer.status === listing.markerGone) return undefined;
    if (answer.status !== 200) throw client.failure(read, answer);

    const page = await pageOf(client, listing, answer, pages.length);
    pages.push(page);
    for (const item of page.items) found.set(listing.idOf(item), item);
    if (page.next === undefined || listing.suffices?.(found) === true) {
      remember(listing, pages);
      return found;
    }
    // A policy may hide all items of a page, so an empty page is no end; only a repeated link is endless.
    const link = JSON.stringify(page.next);
    if (followed.has(link)) {
      throw new RequestError(`GET ${listing.path}: the list has endless pages`, {
        service: client.service,
        kind: 'badAnswer',
      });
    }
    followed.add(link);
    query = page.next;
  }
}

function remember<T>({ memory }: Listing<T>, pages: readonly Page<T>[]): void {
  memory?.pages.set(memory.name, pages, memory.ids);
}

async function pageOf<T>(
  client: ServiceClient,
  listing: Listing<T>,
  answer: HttpAnswer,
  at: number,
): Promise<Page<T>> {
  const { memory, tidy } = listing;
  const digest = memory ? digestOf(answer) : '';
  return memory?.pages.find(memory.name, at, digest) ?? parsed();

  async function parsed(): Promise<Page<T>> {
    const { items, next } = await parsePage(client, listing, answer);
    return { digest, items: tidy?.(items) ?? items, next };
  }
}

async function parsePage<T>(
  client: ServiceClient,
  listing: Listing<T>,
  answer: HttpAnswer,
): Promise<Omit<Page<T>, 'digest'>> {
  const what = `GET ${listing.path}`;
  const schema = z.object({
    [listing.key]: z.array(z.unknown()),
    [`${listing.key}_links`]: linksSchema,
  });
  const body = parseAs(schema, client.service, what, jsonOf(client.service, what, answer));
  const raw = z.array(z.unknown()).parse(body[listing.key]);
  const items = await inTurns(raw, (item) => {
    const parsed = listing.placeholder && listing.item.safeParse(item);
    if (parsed?.success === false) return listing.placeholder?.(item, flawIn(parsed.error)) as T;
    return parsed?.data ?? parseAs(listing.item, client.service, what, item);
  });
  const links = linksSchema.parse(body[`${listing.key}_links`]);
  const href = links.find((link) => link.rel === 'next')?.href;
  return { items, next: href === undefined ? undefined : queryOf(href) };
}

// Only the link's query is used: behind a proxy the link often names an internal host and scheme, and our token goes
// only to the chosen endpoint.
function queryOf(href: string): Query {
  return [...new URL(href, 'http://service').searchParams];
}
