import { type OpenstackConfigSpec, openstackConfigSpec } from '../../../api/openstackconfig.ts';
import type { Owner } from '../../../plan/plan.ts';
import { unansweredPosts } from '../../clusters/deliver/unanswered-posts.ts';
import type { ViolaClient } from '../../clusters/deliver/viola-client.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { ManagementCluster } from '../../management-cluster.ts';
import type { ConfigContext } from '../../model/memory/config-memory.ts';
import { generationOf, ownerOf, statusOf } from '../../model/openstack-config.ts';
import { businessClusterOf } from '../../model/resolve/credentials.ts';
import { resolveViola } from '../../model/resolve/endpoints.ts';
import { Fields } from '../../model/resolve/fields.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { StepFailure } from '../../model/step-failure.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { dropMoved } from './moved-records.ts';
import { ownNodes } from './withdraw.ts';
import type { OwnNode } from './withdrawal.ts';

interface OccupiedDeps {
  readonly settings: OperatorSettings;
  readonly management: Pick<ManagementCluster, 'owner'>;
  readonly violas: Violas;
  readonly inventory: Pick<Inventory, 'nodesOf' | 'record'>;
}

/** An OpenstackConfig's nodes in its business clusters, and POSTs that may still arrive there. */
export interface Occupied {
  /** Clients by business cluster (k8sProviderID). */
  readonly violas: ReadonlyMap<string, ViolaClient>;
  readonly own: readonly OwnNode[];
  /** Business clusters that a POST may still reach, with the remaining milliseconds. */
  readonly open: readonly { readonly providerId: string; readonly ms: number }[];
}

/** Reads an OpenstackConfig's nodes in all its business clusters. Throws StepFailure. */
export async function occupiedIn(
  { object, memory }: ConfigContext,
  { settings, management, violas, inventory }: OccupiedDeps,
  signal: AbortSignal,
): Promise<Occupied> {
  const spec = openstackConfigSpec.safeParse(object.spec).data;
  const owner = await management.owner(object, signal);
  const source = { ...ownerOf(object), cluster: owner.cluster, generation: generationOf(object) };
  const clusters = await occupiedBy(owner, statusOf(object).deliveredTo, inventory);
  const { endpoint, providers } = endpointAndClusters(spec, clusters, settings);
  // Before the lists, which miss any POST that arrives later.
  const open = [...providers]
    .map((providerId) => ({
      providerId,
      ms: unansweredPosts.of(memory.term).openForMs(providerId),
    }))
    .filter(({ ms }) => ms > 0);
  const clients = new Map<string, ViolaClient>();
  const nodesThere: OwnNode[] = [];
  /** uids: a business cluster with two ids lists its objects under both. */
  const seen = new Set<string>();
  for (const cluster of providers) {
    const viola = await violas.of(endpoint, cluster, source);
    const known = clusters.get(cluster) ?? [];
    const nodes = await ownNodes({ viola, owner, known }, signal);
    clients.set(cluster, viola);
    const other = nodes.filter(({ uid }) => !seen.has(uid));
    const again = nodes.filter(({ uid }) => seen.has(uid));
    await dropMoved(again, { provider: cluster, source, known }, inventory);
    for (const { uid } of other) seen.add(uid);
    nodesThere.push(...other.map((node) => ({ node, cluster })));
  }
  return { violas: clients, own: nodesThere, open };
}

const cannotFind =
  'the delivered nodes cannot be found without spec.settings.violaEndpoint and spec.credentials.k8sProviderID; set them again';

/**
 * Returns Viola's endpoint, and the business clusters in spec (first), status and inventory. Throws StepFailure without them.
 */
function endpointAndClusters(
  spec: OpenstackConfigSpec | undefined,
  clusters: ReadonlyMap<string, readonly string[]>,
  settings: OperatorSettings,
) {
  const fields = new Fields();
  const endpoint = spec && resolveViola(spec, settings, fields);
  const [denied] = fields.problems.filter(({ reason }) => reason === 'PolicyDenied');
  if (denied) throw new StepFailure(denied);
  const own = businessClusterOf(spec?.credentials, settings);
  const providers = new Set([...(own === undefined ? [] : [own]), ...clusters.keys()]);
  if (!endpoint?.url || providers.size === 0) {
    throw new StepFailure({ reason: 'ConfigError', message: cannotFind });
  }
  return { endpoint, providers };
}

/** Returns business clusters with possible nodes, each with the node names in the inventory. */
export async function occupiedBy(
  owner: Owner,
  deliveredTo: readonly string[] | undefined,
  inventory: Pick<Inventory, 'nodesOf'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  // The status names the clusters, so an unreadable inventory delays nothing.
  const recorded = await inventory.nodesOf(owner);
  const named = (deliveredTo ?? []).map((provider) => [provider, []] as const);
  return new Map([...named, ...(recorded ?? [])]);
}
