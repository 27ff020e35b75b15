import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { Listed } from '../../clusters/deliver/node-list.ts';
import { violaFailure } from '../../clusters/deliver/viola-problem.ts';
import type { DeliveredContext } from '../sync/delivery.ts';

/** The present business cluster, read after the former id. */
interface Present {
  readonly providerId: string;
  readonly listed: Listed;
  /** Names: nodes refused to the present id, because their objects belong to a further id. */
  readonly refused: ReadonlySet<string>;
  /** uids read earlier in this sync. */
  readonly earlier: ReadonlySet<string>;
  /** True: both ids have the same known cluster uid. */
  readonly isSameCluster: boolean;
}

/**
 * Place of a node under a former id. `elsewhere`: in another business cluster, as far as known. `delivered`: the present
 * id delivers the very object. `staying`: in the present business cluster, delivered under a further id or unreadable.
 */
export type FormerPlace = 'elsewhere' | 'delivered' | 'staying';

/**
 * Returns the place of a node under a former id. A node leaves only from elsewhere, whatever the basis: in the present
 * business cluster its removal takes the NICs of a running node.
 */
function placeOf(
  { uid, nodeName }: Pick<ExistingNodeConfig, 'uid' | 'nodeName'>,
  { providerId, listed, refused, earlier, isSameCluster }: Present,
): FormerPlace {
  const present = listed.nodes.find((node) => node.uid === uid);
  if (present && isDeliveredAs(present, providerId)) return 'delivered';
  const isRead = present !== undefined || listed.unreadable.some((object) => object.uid === uid);
  const isHere = isRead || earlier.has(uid) || refused.has(nodeName);
  return isHere || isSameCluster ? 'staying' : 'elsewhere';
}

/** An object without id belongs to every id. */
function isDeliveredAs({ spec }: ExistingNodeConfig, id: string): boolean {
  return (spec.providerId ?? '') === '' || spec.providerId === id;
}

/**
 * Sorts the nodes under a former id by place. Reads the present business cluster again: a list from before the former
 * id may miss an object with a changed id. Throws StepFailure when the list fails.
 */
export async function sortedByPlace(
  nodes: readonly ExistingNodeConfig[],
  provider: string,
  context: DeliveredContext,
  signal: AbortSignal,
): Promise<Readonly<Record<FormerPlace, readonly ExistingNodeConfig[]>>> {
  if (nodes.length === 0) return { elsewhere: [], delivered: [], staying: [] };
  const { config, observed, rounds } = context;
  const present = {
    providerId: config.providerId,
    listed: await listPresent(nodes, context, signal),
    refused: new Set(
      rounds.delivery.failures.flatMap((one) => (one.isOfOtherId ? one.nodeName : [])),
    ),
    earlier: new Set(
      [...observed.held, ...observed.unreadable, ...rounds.held].map(({ uid }) => uid),
    ),
    isSameCluster: observed.sameClusterIds?.includes(provider) ?? false,
  };
  const sorted = Map.groupBy(nodes, (node) => placeOf(node, present));
  return {
    elsewhere: sorted.get('elsewhere') ?? [],
    delivered: sorted.get('delivered') ?? [],
    staying: sorted.get('staying') ?? [],
  };
}

async function listPresent(
  nodes: readonly ExistingNodeConfig[],
  { source, connections }: DeliveredContext,
  signal: AbortSignal,
): Promise<Listed> {
  const instanceIds = [...new Set(nodes.flatMap(({ spec }) => spec.instanceId ?? []))];
  try {
    return await connections.viola.list({ fresh: true, source, instanceIds }, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}
