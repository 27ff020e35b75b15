import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../../api/node-configs-http.ts';
import { objectName } from '../../api/object-name.ts';
import { HttpProblem } from '../../http/problem.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { toExistingNodeConfig } from '../node-configs/existing-node-config.ts';
import { isOf, nodeConfigs, nodeNameOf } from '../node-configs/node-config.ts';

export interface Page {
  readonly items: readonly ExistingNodeConfig[];
  readonly unreadable: readonly UnreadableNode[];
  readonly continue?: string;
}

export interface PageQuery {
  readonly limit: number;
  readonly continue?: string | undefined;
}

/**
 * Page size limit: 250 objects with ten NICs are 3.5 MB; longer pages would exceed the 4 MiB limit and be discarded.
 */
const maxPageSize = 250;

/** Callers wait 30 s. */
const readWithinMs = 25_000;

/**
 * Reads one page with this provider's objects, possibly shorter than requested; `continue` is the API server's own
 * token. Several callers may share the read, so no caller's disconnect aborts it.
 */
export async function readPage(
  { client, namespace, providerId }: Cluster,
  query: PageQuery,
  clock: Clock,
): Promise<Page> {
  const limit = Math.min(query.limit, maxPageSize);
  const page = await withDeadline({ clock, ms: readWithinMs }, (signal) =>
    client.list(nodeConfigs, { namespace, limit, continue: query.continue, signal }),
  );
  const read = page.items.filter((object) => isOf(providerId, object)).map(toExistingNodeConfig);
  return {
    items: read.flatMap((one) => (one.kind === 'readable' ? [one.node] : [])),
    unreadable: read.flatMap((one) => (one.kind === 'unreadable' ? [one.node] : [])),
    ...(page.continue ? { continue: page.continue } : {}),
  };
}

export interface Selection {
  /** `namespace/name` of an OpenstackConfig. */
  readonly source?: string | undefined;
  readonly instanceIds: readonly string[];
}

/** Returns the page's items from this source or for these servers; without both, the whole page. */
export function selected(page: Page, { source, instanceIds }: Selection): Page {
  if (source === undefined && instanceIds.length === 0) return page;
  const servers = new Set(instanceIds.map((id) => id.toLowerCase()));
  const items = page.items.filter(
    (node) =>
      (node.source && `${node.source.namespace}/${node.source.name}` === source) ||
      servers.has(node.spec.instanceId?.toLowerCase() ?? ''),
  );
  return { ...page, items };
}

/** Reads one object by node name; throws a 404 problem when missing. */
export async function readNode(
  cluster: Cluster,
  nodeName: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ExistingNodeConfig> {
  const limit = { clock, ms: readWithinMs, signal };
  const read = toExistingNodeConfig(
    await withDeadline(limit, (limited) => findNode(cluster, nodeName, limited)),
  );
  if (read.kind === 'readable') return read.node;
  throw new HttpProblem(503, 'Unreadable', `${nodeName}: ${read.node.message}`);
}

/** Finds exactly this node's object; another node with the same object name does not count. */
export async function findNode(
  { client, namespace, providerId }: Cluster,
  nodeName: string,
  signal: AbortSignal,
): Promise<MultiNicNodeConfig> {
  const name = objectName(nodeName);
  const object =
    name === '' ? undefined : await client.find(nodeConfigs, { namespace, name }, { signal });
  if (object && isOf(providerId, object) && nodeNameOf(object) === nodeName.trim()) {
    return object;
  }
  const detail = `no node config for "${nodeName}" in this cluster`;
  throw new HttpProblem(404, 'NoSuchNode', detail);
}
