import { continueHeader, nodeConfigsPath } from '../../../api/node-configs-http.ts';
import { inTurns } from '../../../process/slices.ts';
import { textPool } from '../../../process/text-pool.ts';
import { headerOf } from '../../../requests/answer.ts';
import { isRequestError, RequestError } from '../../../requests/request-error.ts';
import type { HttpAnswer } from '../../../requests/transport.ts';
import { type ClusterFacts, factsOf, type NodeFacts, unreadableFacts } from './node-facts.ts';
import { pageOf } from './viola-answer.ts';

/** A page with ETag, in little memory. */
interface FactPage {
  readonly tag: string | undefined;
  readonly nodes: readonly NodeFacts[];
}

type Send = (path: string, headers: Readonly<Record<string, string>>) => Promise<HttpAnswer>;

/** Nodes per page, at most half a megabyte: parsing a page blocks the event loop. */
const pageSize = 200;
/** Most pages of a list; a longer list repeats itself. */
const mostPages = 1_000;

/**
 * The last whole list from a business cluster, for all OpenstackConfigs. Viola neither sends an unchanged page again nor
 * does the operator parse the page again; only facts stay in memory.
 */
export class FactPages {
  #pages: readonly FactPage[] = [];
  #facts: ClusterFacts | undefined;

  /** Reads the list; returns the same facts while nothing changes. Throws RequestError. */
  async read(send: Send, now: () => Date): Promise<ClusterFacts> {
    const pages = await this.#readPages(send, now).catch(async (error: unknown) => {
      if (!isRequestError(error) || error.code !== 'ContinueExpired') throw error;
      return this.#readPages(send, now);
    });
    const isSame =
      pages.length === this.#pages.length && pages.every((page, at) => page === this.#pages[at]);
    this.#pages = pages;
    if (!isSame || this.#facts === undefined) {
      const nodes = pages.flatMap((page) => page.nodes);
      this.#facts = new Map(nodes.map((node) => [node.nodeName, node]));
    }
    return this.#facts;
  }

  async #readPages(send: Send, now: () => Date): Promise<FactPage[]> {
    const pages: FactPage[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      if (pages.length === mostPages) throw tooMany;
      const read: ReadPage = await this.#readPage(pages.length, next, { send, now });
      pages.push(read.page);
      next = read.next;
    }
    return pages;
  }

  async #readPage(
    at: number,
    token: string,
    { send, now }: { readonly send: Send; readonly now: () => Date },
  ): Promise<ReadPage> {
    const search = new URLSearchParams({
      limit: String(pageSize),
      ...(token && { continue: token }),
    });
    const path = `${nodeConfigsPath}?${search.toString()}`;
    const known = this.#pages[at];
    if (known?.tag !== undefined) {
      const answer = await send(path, { 'if-none-match': known.tag });
      if (answer.status !== 304) return taken(answer, now());
      const next = answer.headers[continueHeader];
      // The header is empty on the last page; without the header the list's end is unknown.
      if (typeof next === 'string') return { page: known, next: next || undefined };
    }
    return taken(await send(path, {}), now());
  }
}

interface ReadPage {
  readonly page: FactPage;
  /** Next page's token; undefined: last page. */
  readonly next: string | undefined;
}

async function taken(answer: HttpAnswer, now: Date): Promise<ReadPage> {
  const { items, unreadable = [], continue: next } = await pageOf(answer, () => true, now);
  const share = sharing();
  const readable = await inTurns(items, (node) => share(factsOf(node)));
  const nodes = [...readable, ...unreadable.map(unreadableFacts)];
  return { page: { tag: headerOf(answer, 'etag'), nodes }, next };
}

/** Returns a function to share equal values: most nodes have the same source and NIC states. */
function sharing(): (facts: NodeFacts) => NodeFacts {
  const values = new Map<string, unknown>();
  const texts = textPool();
  const shared = <T>(value: T): T => {
    const key = JSON.stringify(value);
    if (!values.has(key)) values.set(key, value);
    return values.get(key) as T;
  };
  return ({ source, configured, why, state, ...node }) => ({
    ...node,
    source: source && shared(source),
    configured: shared(configured),
    why: why === undefined ? undefined : texts(why),
    state: state === undefined ? undefined : texts(state),
  });
}

const tooMany = new RequestError(`the list of nodes has more than ${mostPages} pages`, {
  service: 'viola',
  kind: 'badAnswer',
});
