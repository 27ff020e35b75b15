import {
  type ExistingNodeConfig,
  nodeConfigsPath,
  type UnreadableNode,
} from '../../api/node-configs-http.ts';
import type { ExistingNode } from '../../plan/plan.ts';
import { isRequestError, RequestError } from '../../requests/request-error.ts';
import { concernOf } from './concern.ts';
import type { ListQuery } from './list-query.ts';
import type { NodePage } from './viola-answer.ts';

export interface Listed {
  readonly nodes: readonly ExistingNode[];
  /** Objects that are there, and of which nothing else is known. */
  readonly unreadable: readonly UnreadableNode[];
}

/** Position of a page: its list and its number. */
export interface PagePlace {
  /** The same for the same page of later lists, whichever servers they name. */
  readonly at: string;
  /** What the list selects. */
  readonly list: string;
}

/** Reads one page of Viola's list, and of it the nodes that are a concern. */
export type ReadPage = (
  path: string,
  isConcern: (raw: unknown) => boolean,
  place: PagePlace,
) => Promise<NodePage>;

/** What Viola selects; nothing named = everything. */
type Selection = Partial<Pick<ListQuery, 'source' | 'instanceIds'>>;

/** Half a megabyte at most: what is parsed at once keeps everything else waiting. */
const pageSize = 200;
/** Viola's limit, and as many as a URL holds. */
const mostInstanceIds = 200;
/** A list that is longer than this repeats itself. */
const mostPages = 1_000;

/**
 * All that an OpenstackConfig has to know of a business cluster. Of many servers nearly all nodes come from it, and only what
 * they lack is looked for among those of others: a look at 1,000 servers does not read 10,000 nodes.
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
  throw new RequestError(`the list of nodes does not end after ${mostPages} pages`, {
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
  const held = new Set(nodes.map(({ spec }) => spec.instanceId?.toLowerCase()));
  return instanceIds.filter((id) => !held.has(id.toLowerCase()));
}

/** A node that changed between the two is in both, and an object that cannot be read is part of every list. */
function together(earlier: Listed, later: Listed): Listed {
  const nodes = [...earlier.nodes, ...later.nodes];
  const unreadable = [...earlier.unreadable, ...later.unreadable];
  return {
    nodes: [...new Map(nodes.map((node) => [node.nodeName, node])).values()],
    unreadable: [...new Map(unreadable.map((object) => [object.objectName, object])).values()],
  };
}
