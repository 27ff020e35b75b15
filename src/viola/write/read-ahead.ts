import { type DesiredNode, desiredNode } from '../../api/desired-node.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import type { PostedNode } from '../../api/node-configs-http.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { judge } from './judge-write.ts';
import { withRemovalConsent } from './removal-consent.ts';
import { accepted, type WriteOptions, type Written } from './write-node.ts';

/** Up to this number, single reads are cheaper than a list of the namespace. */
const fewNodes = 20;
/** Page size, as in `read-nodes.ts`. */
const objectsPerPage = 250;
/** Posted nodes per page read: listing a large namespace must not cost more than single reads. */
const nodesPerPage = 10;

/** The remainder of a request's 25 s is for writes. */
const listedWithinMs = 10_000;

interface ReadAheadOptions extends WriteOptions {
  readonly clock: Clock;
}

/** List results for posted nodes, by object name. */
export interface ReadAhead {
  /** Objects with the posted content. */
  readonly unchanged: ReadonlyMap<string, Written>;
  /** True if no object with this name exists. */
  isAbsent(name: string): boolean;
}

const nothing: ReadAhead = { unchanged: new Map(), isAbsent: () => false };

/**
 * Reads a large set by pages instead of single reads. Only results are kept, since thousands of objects would not fit
 * into memory; changed objects are read again before the write. A failed list yields nothing.
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
    const node = withRemovalConsent(one.node, one.posted, live, options.clock.now());
    const verdict = judge(live, one.posted, node, cluster, options);
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
