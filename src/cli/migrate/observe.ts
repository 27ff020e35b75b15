import type { KubeClient } from '../../kube/client/client.ts';
import { nodes } from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import { nodeConfigs } from '../../viola/node-configs/node-config.ts';
import type { Skipped } from '../report.ts';
import { type Directory, directoryOf } from './directory.ts';
import type { Source } from './source.ts';

/** Names and server ids (lower case) from the cluster's Nodes. */
export interface NodeNames {
  readonly names: ReadonlySet<string>;
  readonly systemUuids: ReadonlySet<string>;
}

/** Cluster state for a migration, beside the source. */
export interface Observed {
  readonly directory: Directory;
  /** undefined: the user may not list Nodes; then no node counts as missing. */
  readonly nodes: NodeNames | undefined;
  readonly skipped: readonly Skipped[];
}

export async function observe(
  client: KubeClient,
  { config }: Source,
  signal?: AbortSignal,
): Promise<Observed> {
  const { namespace } = config.metadata;
  const { items } = await client.listAll(nodeConfigs, { namespace, signal });
  const directory = directoryOf(items);
  try {
    return { directory, nodes: await readNodes(client, signal), skipped: [] };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const why = `the user may not list Nodes (${error.message}): whether a node exists is unknown`;
    return { directory, nodes: undefined, skipped: [{ what: 'nodes', why }] };
  }
}

async function readNodes(client: KubeClient, signal: AbortSignal | undefined): Promise<NodeNames> {
  const { items } = await client.listAll(nodes, { signal });
  return {
    names: new Set(items.map(({ metadata }) => metadata.name)),
    systemUuids: new Set(
      items.map(({ status }) => status?.nodeInfo?.systemUUID?.toLowerCase() ?? ''),
    ),
  };
}
