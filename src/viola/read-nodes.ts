import type { HeldNode } from '../api/node-configs-http.ts';
import { HttpProblem } from '../http/problem.ts';
import type { Cluster } from './clusters.ts';
import { nodeConfigs, toHeldNode } from './node-config.ts';
import { objectName } from './object-name.ts';

export interface Page {
  readonly items: readonly HeldNode[];
  readonly continue?: string;
}

export interface PageQuery {
  readonly limit: number;
  readonly continue?: string | undefined;
}

/** One page of what the business cluster holds; `continue` is the API server's own token. */
export async function readPage(
  { client, namespace }: Cluster,
  query: PageQuery,
  signal: AbortSignal,
): Promise<Page> {
  const page = await client.list(nodeConfigs, {
    namespace,
    limit: query.limit,
    continue: query.continue,
    signal,
  });
  return {
    items: page.items.map(toHeldNode),
    ...(page.continue ? { continue: page.continue } : {}),
  };
}

/** One object by node name; a 404 problem when the cluster holds none. */
export async function readNode(
  { client, namespace }: Cluster,
  nodeName: string,
  signal: AbortSignal,
): Promise<HeldNode> {
  const name = objectName(nodeName);
  const object =
    name === '' ? undefined : await client.find(nodeConfigs, { namespace, name }, { signal });
  if (!object) throw noSuchNode(nodeName);
  return toHeldNode(object);
}

/** 404 of a node that the business cluster does not hold. */
export function noSuchNode(nodeName: string): HttpProblem {
  return new HttpProblem(404, 'NoSuchNode', `no node config for "${nodeName}" in this cluster`);
}
