import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../api/node-configs-http.ts';
import { objectName } from '../api/object-name.ts';
import { HttpProblem } from '../http/problem.ts';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import type { Cluster } from './clusters.ts';
import { toExistingNodeConfig } from './existing-node-config.ts';
import { isOf, nodeConfigs, nodeNameOf } from './node-config.ts';

export interface Page {
  readonly items: readonly ExistingNodeConfig[];
  readonly unreadable: readonly UnreadableNode[];
  readonly continue?: string;
}

export interface PageQuery {
  readonly limit: number;
  readonly continue?: string | undefined;
}

/** With ten NICs each they come to 3.5 MB, of the 4 MiB that a page may have: a longer one would be made and thrown away. */
const mostAtOnce = 250;

/** Callers wait 30 s. */
const readWithinMs = 25_000;

/**
 * One page of what the business cluster holds for this provider, perhaps a shorter one than was asked for; `continue` is the
 * API server's own token. Several callers may wait for it, so that none of them can end it by leaving.
 */
export async function readPage(
  { client, namespace, providerId }: Cluster,
  query: PageQuery,
  clock: Clock,
): Promise<Page> {
  const limit = Math.min(query.limit, mostAtOnce);
  const page = await withDeadline({ clock, ms: readWithinMs }, (signal) =>
    client.list(nodeConfigs, { namespace, limit, continue: query.continue, signal }),
  );
  const read = page.items.filter((object) => isOf(providerId, object)).map(toExistingNodeConfig);
  return {
    items: read.flatMap((one) => (one.kind === 'held' ? [one.node] : [])),
    unreadable: read.flatMap((one) => (one.kind === 'unreadable' ? [one.node] : [])),
    ...(page.continue ? { continue: page.continue } : {}),
  };
}

export interface Selection {
  /** `namespace/name` of an OpenstackConfig. */
  readonly source?: string | undefined;
  readonly instanceIds: readonly string[];
}

/** The part of a page that comes from the source or is about one of the servers; all of it when neither is named. */
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

/** One object by node name; a 404 problem when the cluster holds none. */
export async function readNode(
  cluster: Cluster,
  nodeName: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ExistingNodeConfig> {
  const limit = { clock, ms: readWithinMs, signal };
  const read = toExistingNodeConfig(
    await withDeadline(limit, (limited) => findNode(cluster, nodeName, limited)),
  );
  if (read.kind === 'held') return read.node;
  throw new HttpProblem(503, 'Unreadable', `${nodeName}: ${read.node.message}`);
}

/** The object of this very node; another node whose name comes to the same object name is none of it. */
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
