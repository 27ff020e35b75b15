import { hash } from 'node:crypto';
import { continueHeader } from '../../../api/node-configs-http.ts';
import { BoundedMemory } from '../../../process/bounded-memory.ts';
import { headerOf } from '../../../requests/answer.ts';
import type { HttpAnswer } from '../../../requests/transport.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ListQuery } from './list-query.ts';
import type { ReadPage } from './node-list.ts';
import { type NodePage, pageOf } from './viola-answer.ts';

/** A page of Viola's list, with ETag. */
interface TaggedPage {
  /** Hash of query and selection; a page is valid only for the same hash. */
  readonly selection: string;
  readonly tag: string;
  readonly page: NodePage;
}

/**
 * Last pages of each Viola: an unchanged page is neither sent nor parsed again. A page replaces the same page of an
 * earlier selection, which is never requested again.
 */
export type PageMemory = BoundedMemory<TaggedPage>;

/** JSON characters, enough for some 5,000 nodes; parsed nodes take two to three times as much. */
const mostCharacters = 8 * 1024 * 1024;

export function createPageMemory(): PageMemory {
  return new BoundedMemory(mostCharacters);
}

interface PageReaderOptions {
  readonly pages: PageMemory;
  readonly clock: Pick<Clock, 'now'>;
  /** Viola's endpoint and the business cluster. */
  readonly place: string;
  readonly send: (path: string, headers: Readonly<Record<string, string>>) => Promise<HttpAnswer>;
}

/** Reads a list's pages; a 304 returns the stored page. */
export function createPageReader(
  { source, instanceIds }: ListQuery,
  { pages, clock, place, send }: PageReaderOptions,
): ReadPage {
  const owner = JSON.stringify([place, source.namespace, source.name]);
  // The parsed nodes of a page depend on query and selection; continue tokens and `fresh` change nothing.
  const concern = hash('sha256', JSON.stringify([source, instanceIds]));

  return async (path, isConcern, { at, list }) => {
    const key = `${owner} ${at}`;
    const selection = hash('sha256', `${concern} ${list}`);
    const stored = pages.peek(key);
    const known = stored?.selection === selection ? stored : undefined;
    if (known !== undefined) {
      const answer = await send(path, { 'if-none-match': known.tag });
      if (answer.status !== 304) return taken(answer);
      const next = answer.headers[continueHeader];
      // The header is empty on the last page; without the header the list's end is unknown.
      if (typeof next === 'string') {
        pages.touch(key);
        return { ...known.page, continue: next || undefined };
      }
      pages.drop(key);
    }
    return taken(await send(path, {}));

    async function taken(answer: HttpAnswer) {
      const page = await pageOf(answer, isConcern, clock.now());
      const tag = headerOf(answer, 'etag');
      if (tag === undefined) pages.drop(key);
      else pages.set(key, { selection, tag, page }, sizeOf(key, answer));
      return page;
    }
  };
}

/** Returns characters, including the key: in small pages the key is the larger part. */
function sizeOf(key: string, { text }: HttpAnswer): number {
  return key.length + text.length;
}
