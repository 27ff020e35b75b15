import { type DesiredNode, desiredNode } from '../../api/desired-node.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import type { PostedNode } from '../../api/node-configs-http.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { type Basis, decide, type WriteOptions, type Written } from './write-node.ts';

/** Up to this number, single reads are cheaper than a list of the namespace. */
export const fewNodes = 20;
/** Page size, as in `read-nodes.ts`. */
const objectsPerPage = 250;
/** Posted nodes per page read: listing a large namespace must not cost more than single reads. */
const nodesPerPage = 10;

/** The remainder of a request's 25 s is for writes. */
const listedWithinMs = 10_000;

interface ReadAheadOptions extends WriteOptions {
  readonly clock: Clock;
}

/** Returns the decision on the listed object with this name; undefined: the object must be read. */
export type ReadAhead = (name: string) => Basis | Written | undefined;

/**
 * Reads a large set by pages instead of single reads. Only decisions are kept, since thousands of objects would not fit
 * into memory: a write's basis has about 100 bytes. Refusals are decided again on the live object. A failed list
 * yields nothing.
 */
export async function readAhead(
  cluster: Cluster,
  posted: readonly PostedNode[],
  options: ReadAheadOptions,
): Promise<ReadAhead> {
  if (posted.length <= fewNodes) return () => undefined;
  const wanted = wantedNodes(cluster, posted);
  const decisions = new Map<string, Basis | Written>();
  const take = (live: MultiNicNodeConfig): void => {
    const { name } = live.metadata;
    const one = wanted.get(name);
    if (one) decisions.set(name, decide(live, one, cluster, options));
  };
  const pages = Math.ceil(posted.length / nodesPerPage);
  const isComplete = await readPages(cluster, pages, take, options);
  return (name) => {
    const decision = decisions.get(name);
    if (decision) return isRefusal(decision) ? undefined : decision;
    const one = wanted.get(name);
    return isComplete && one ? decide(undefined, one, cluster, options) : undefined;
  };
}

function isRefusal(decision: Basis | Written): boolean {
  return 'kind' in decision && decision.kind === 'refused';
}

function wantedNodes({ providerId }: Cluster, posted: readonly PostedNode[]) {
  return new Map(
    posted.flatMap((one): [string, { posted: PostedNode; content: DesiredNode }][] => {
      const desired = desiredNode(one, providerId);
      return desired.kind === 'usable'
        ? [[desired.node.name, { posted: one, content: desired.node }]]
        : [];
    }),
  );
}

/** Reads at most `pages`; returns true if these contained all objects. */
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
