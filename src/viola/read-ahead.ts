import { type DesiredNode, desiredNode } from '../api/desired-node.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import type { PostedNode } from '../api/node-configs-http.ts';
import { KubeError } from '../kube/errors.ts';
import type { Clock } from '../time/clock.ts';
import { DeadlineReached, withDeadline } from '../time/deadline.ts';
import type { Cluster } from './clusters.ts';
import { judge } from './judge-write.ts';
import { nodeConfigs } from './node-config.ts';
import { accepted, type WriteOptions, type Written } from './write-node.ts';

/** Below this, single reads are cheaper than a list of the namespace. */
export const fewNodes = 20;
/** As long as a page of `read-nodes.ts`. */
const objectsPerPage = 250;
/** Nodes for which one page is read at most: a list of a large namespace must not cost more than single reads do. */
const nodesPerPage = 10;

/** The rest of a request's 25 s is for writes. */
const listedWithinMs = 10_000;

interface ReadAheadOptions extends WriteOptions {
  readonly clock: Clock;
}

/** What lists tell of posted nodes before they are written, by object name. */
export interface ReadAhead {
  /** Objects that hold what was posted. */
  readonly unchanged: ReadonlyMap<string, Written>;
  /** Whether there is no object of this name. */
  isAbsent(name: string): boolean;
}

const nothing: ReadAhead = { unchanged: new Map(), isAbsent: () => false };

/**
 * Reads a large set by pages in place of one read for each node. Only the outcome is kept, not the objects: thousands of
 * them would not fit into memory. Objects that differ are read again when they are written. A list that fails tells nothing.
 */
export async function readAhead(
  cluster: Cluster,
  posted: readonly PostedNode[],
  options: ReadAheadOptions,
): Promise<ReadAhead> {
  if (posted.length <= fewNodes) return nothing;
  const wanted = wantedNodes(cluster, posted);
  const unchanged = new Map<string, Written>();
  const present = new Set<string>();
  const take = (live: MultiNicNodeConfig): void => {
    const { name } = live.metadata;
    const one = wanted.get(name);
    if (!one) return;
    present.add(name);
    const verdict = judge(live, one.posted, one.node, cluster, options);
    if (verdict === 'unchanged') {
      unchanged.set(name, accepted(one.posted.nodeName, 'unchanged', live));
    }
  };
  const isComplete = await readPages(
    cluster,
    Math.ceil(posted.length / nodesPerPage),
    take,
    options,
  );
  return { unchanged, isAbsent: (name) => isComplete && wanted.has(name) && !present.has(name) };
}

function wantedNodes({ providerId }: Cluster, posted: readonly PostedNode[]) {
  return new Map(
    posted.flatMap((one): [string, { posted: PostedNode; node: DesiredNode }][] => {
      const desired = desiredNode(one, providerId);
      return desired.kind === 'usable'
        ? [[desired.node.name, { posted: one, node: desired.node }]]
        : [];
    }),
  );
}

/** Reads at most `pages`; answers whether these were all objects. */
async function readPages(
  { client, namespace }: Cluster,
  pages: number,
  take: (live: MultiNicNodeConfig) => void,
  { clock, signal }: ReadAheadOptions,
): Promise<boolean> {
  let token: string | undefined;
  try {
    return await withDeadline({ clock, ms: listedWithinMs, signal }, async (limited) => {
      for (let read = 0; read < pages; read++) {
        const query = { namespace, limit: objectsPerPage, continue: token, signal: limited };
        const page = await client.list(nodeConfigs, query);
        for (const live of page.items) take(live);
        token = page.continue;
        if (!token) return true;
      }
      return false;
    });
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof KubeError || error instanceof DeadlineReached) return false;
    throw error;
  }
}
