import {
  type ExistingNodeConfig,
  nodeConfigsPath,
  type UnreadableNode,
} from '../../../api/node-configs-http.ts';
import type { ExistingNode } from '../../../plan/plan.ts';
import { isRequestError, RequestError } from '../../../requests/request-error.ts';
import { concernOf } from './concern.ts';
import type { ListQuery } from './list-query.ts';
import type { NodePage } from './viola-answer.ts';

export interface Listed {
  readonly nodes: readonly ExistingNode[];
  /** Objects that exist but cannot be read. */
  readonly unreadable: readonly UnreadableNode[];
}

/** A page's position: list and page number. */
interface PagePlace {
  /** Equal for the same page of later lists, whichever servers the lists name. */
  readonly at: string;
  /** The list's search parameters without `fresh` and `continue`. */
  readonly list: string;
}

/** Reads a page of Viola's list; `isConcern` selects the nodes to parse. */
export type ReadPage = (
  path: string,
  isConcern: (raw: unknown) => boolean,
  place: PagePlace,
) => Promise<NodePage>;

/** Viola's selection; empty: every node. */
type Selection = Partial<Pick<ListQuery, 'source' | 'instanceIds'>>;

/** Nodes per page, at most half a megabyte: parsing a page blocks the event loop. */
const pageSize = 200;
/** Viola's limit, and as many as a URL holds. */
const mostInstanceIds = 200;
/** Most pages of a list; a longer list repeats itself. */
const mostPages = 1_000;

/**
 * Returns the nodes that an OpenstackConfig needs from a business cluster. With many servers, the own nodes are read
 * first; only missing servers are looked up among foreign nodes. A sync of 1,000 servers then does not read 10,000
 * nodes.
 */
export async function listNodes(query: ListQuery, readPage: ReadPage): Promise<Listed> {
  const { source, instanceIds } = query;
  if (instanceIds.length <= mostInstanceIds) return select({ source, instanceIds });
  const own = await select({ source });
  const missing = missingOf(instanceIds, own);
  if (missing.length === 0) return own;
  if (missing.length > mostInstanceIds) return select({});
  return together(own, await select({ instanceIds: missing }));

  async function select(selection: Selection): Promise<Listed> {
    const read = async () =>
      readPages({ fresh: query.fresh, selection }, readPage, concernOf(query));
    try {
      return await read();
    } catch (error) {
      if (!isRequestError(error) || error.code !== 'ContinueExpired') throw error;
      return read();
    }
  }
}

async function readPages(
  part: { readonly fresh: boolean; readonly selection: Selection },
  readPage: ReadPage,
  isConcern: (raw: unknown) => boolean,
): Promise<Listed> {
  const nodes: ExistingNodeConfig[] = [];
  const unreadable: UnreadableNode[] = [];
  const list = searchOf(part.selection, false).toString();
  const kind = Object.keys(part.selection).join(' ');
  let next: string | undefined;
  for (let pages = 0; pages < mostPages; pages++) {
    const search = searchOf(part.selection, part.fresh, next);
    const path = `${nodeConfigsPath}?${search.toString()}`;
    const page = await readPage(path, isConcern, { at: `${kind} ${pages}`, list });
    nodes.push(...page.items);
    unreadable.push(...(page.unreadable ?? []));
    next = page.continue;
    if (next === undefined) return { nodes, unreadable };
  }
  throw new RequestError(`the list of nodes has more than ${mostPages} pages`, {
    service: 'viola',
    kind: 'badAnswer',
  });
}

function searchOf({ source, instanceIds = [] }: Selection, fresh: boolean, next?: string) {
  const search = new URLSearchParams({ limit: String(pageSize) });
  if (fresh) search.set('fresh', 'true');
  if (source) search.set('source', `${source.namespace}/${source.name}`);
  for (const id of instanceIds) search.append('instanceId', id);
  if (next !== undefined) search.set('continue', next);
  return search;
}

function missingOf(instanceIds: readonly string[], { nodes }: Listed): string[] {
  const listed = new Set(nodes.map(({ spec }) => spec.instanceId?.toLowerCase()));
  return instanceIds.filter((id) => !listed.has(id.toLowerCase()));
}

/** Merges two lists: a changed node is in both, an unreadable object in every list. */
function together(earlier: Listed, later: Listed): Listed {
  const nodes = [...earlier.nodes, ...later.nodes];
  const unreadable = [...earlier.unreadable, ...later.unreadable];
  return {
    nodes: [...new Map(nodes.map((node) => [node.nodeName, node])).values()],
    unreadable: [...new Map(unreadable.map((object) => [object.objectName, object])).values()],
  };
}
