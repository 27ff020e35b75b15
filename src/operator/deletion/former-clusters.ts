import { findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Reason } from '../../api/reasons.ts';
import { decideRemovals, type RemovalBasis, removalLimits } from '../../api/removals.ts';
import type { Owner } from '../../plan/plan.ts';
import { deliveredFor, nicAt } from '../../plan/view.ts';
import type { Perform } from '../../process/effects.ts';
import { removalUnsupported } from '../deliver/unsupported.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { latestObject } from '../memory/latest-object.ts';
import { hasRemovalApproval, statusOf } from '../openstack-config.ts';
import { type StatusProblem, StepFailure } from '../status/step-failure.ts';
import type { DeliveredContext } from '../sync/delivery.ts';
import { manualRemovals } from '../sync/manual-removals.ts';
import { type Withdrawn, withdraw } from './withdraw.ts';

/** An OpenstackConfig's nodes in its former business clusters. */
export interface FormerClusters {
  readonly leaving: readonly ExistingNodeConfig[];
  /** Business clusters with possible nodes, including the present business cluster. */
  readonly deliveredTo: readonly string[];
  readonly problems: readonly StatusProblem[];
}

export interface FormerClustersDeps {
  readonly inventory: Inventory;
  readonly violas: Violas;
  readonly perform: Perform<Effect>;
}

/**
 * Removes nodes from former business clusters. A node is removed when the present business cluster shows a Node with
 * its instance id. A changed operator setting or credential form alone removes no NIC.
 */
export async function withdrawFromFormerClusters(
  context: DeliveredContext,
  { inventory, violas, perform }: FormerClustersDeps,
  signal: AbortSignal,
): Promise<FormerClusters> {
  const { object, memory, config, source } = context;
  const { deliveredTo } = statusOf(latestObject(context));
  const { inFormerClusters } = manualRemovals(object);
  const leaving: ExistingNodeConfig[] = [];
  const problems: StatusProblem[] = [];
  const clusters = await occupiedBy(source, deliveredTo, inventory);
  const occupied = new Set(clusters.keys());
  for (const [provider, known] of clusters) {
    if (provider === config.providerId) continue;
    try {
      // Before the list, which misses any POST that arrives later.
      const isOpen = memory.term.unansweredPosts.openForMs(provider) > 0;
      const viola = await violas.of(config.viola, provider, source);
      const blockedIn = (own: readonly ExistingNodeConfig[]) => blockedNodes(own, context);
      const left = viola.abilities.removes
        ? await withdraw({ viola, owner: source, known, blockedIn, perform }, signal)
        : leftByHand(known, provider, inFormerClusters);
      if (left.leaving.length + left.blocked.length === 0 && !isOpen) {
        await inventory.record(provider, source, []);
        occupied.delete(provider);
      }
      leaving.push(...left.leaving);
      if (left.blocked.length > 0)
        problems.push(blockedProblem(left.blocked, provider, config.providerId));
    } catch (error) {
      // A failure in a former business cluster does not undo the delivery to the present cluster.
      if (!(error instanceof StepFailure)) throw error;
      const message = `nodes in business cluster "${provider}" cannot be removed: ${error.message}`;
      problems.push({ reason: error.reason, message });
    }
  }
  return { leaving, deliveredTo: [...occupied].toSorted(), problems };
}

/**
 * Returns no nodes for a legacy Viola without recorded nodes, or after a user removed the nodes. Throws StepFailure
 * otherwise.
 */
function leftByHand(names: readonly string[], provider: string, isClean: boolean): Withdrawn {
  if (names.length === 0 || isClean) return { leaving: [], blocked: [] };
  const { reason, message } = removalUnsupported(names, provider);
  const next = `${message}; then set the annotation multinic.io/allow-removals to a new value`;
  throw new StepFailure({ reason, message: next });
}

/** Returns the nodes whose removal needs a user's approval. */
function blockedNodes(
  own: readonly ExistingNodeConfig[],
  context: DeliveredContext,
): ReadonlySet<string> {
  const hasConsent = hasRemovalApproval(context.object);
  const nics = own.filter(mayHaveNics).flatMap((node) => {
    const { interfaces = [] } = node.spec;
    const basis = basisOf(node, context);
    return interfaces.map((nic) => ({ node, basis, item: nicAt(serverOf(node), nic) }));
  });
  const { held } = decideRemovals({
    removals: nics.map((nic) => ({ ...nic, hasConsent })),
    recent: [],
    total: context.planned.input.cloudInterfaces + nics.length,
    limit: removalLimits.nicsOfCloud,
  });
  return new Set(nics.filter(({ item }) => held.has(item)).map(({ node }) => node.nodeName));
}

/** Returns false for an object without a Node and without an agent run. */
function mayHaveNics({ status, generation }: ExistingNodeConfig): boolean {
  const { applied, knownInterfaces = [], observedGeneration, conditions } = status ?? {};
  const { reason } = findCondition(conditions, 'Ready') ?? {};
  const isNowhere = observedGeneration === generation && reason === 'NodeNotFound';
  return !isNowhere || applied !== undefined || knownInterfaces.length > 0;
}

/** Returns the delivered instance id: a user's edit of the id does not deselect the server. */
function serverOf(node: ExistingNodeConfig): string {
  return deliveredFor(node)?.toLowerCase() ?? '';
}

function basisOf(
  node: ExistingNodeConfig,
  { source, planned, rounds }: DeliveredContext,
): RemovalBasis {
  const instanceId = serverOf(node);
  const { selection, observation } = planned.input;
  const isDeleted = observation.servers.some((server) => {
    return server.id === instanceId && server.status === 'DELETED';
  });
  if (isDeleted || rounds.held.some((existing) => showsNode(existing, instanceId))) return 'proven';
  const isDeselected = selection.pinned.servers && !selection.serverIds.includes(instanceId);
  return isDeselected && node.source?.uid === source.uid ? 'named' : 'sideEffect';
}

/** Returns whether the controller applied this object on a Node with this instance id. */
function showsNode(
  { spec, status, uid, deletionTimestamp }: ExistingNodeConfig,
  instanceId: string,
): boolean {
  const { reason = '' } = findCondition(status?.conditions, 'Ready') ?? {};
  return (
    spec.instanceId?.toLowerCase() === instanceId &&
    deletionTimestamp === undefined &&
    isOnNode(status?.applied, uid) &&
    !withoutNode.has(reason)
  );
}

type Applied = NonNullable<NonNullable<ExistingNodeConfig['status']>['applied']>;

function isOnNode(applied: Applied | undefined, uid: string): boolean {
  const { nodeUid, objectUid = uid, action, undone = false } = applied ?? {};
  return nodeUid !== undefined && objectUid === uid && action === 'apply' && !undone;
}

/** Ready reasons of objects without a matching Node. */
const withoutNode: ReadonlySet<string> = new Set<Reason>([
  'NodeNotFound',
  'DuplicateSystemUUID',
  'DuplicateInstanceId',
  'OtherControllerActive',
]);

const shownNodes = 5;

function blockedProblem(
  blocked: readonly ExistingNodeConfig[],
  former: string,
  present: string,
): StatusProblem {
  const names = blocked.slice(0, shownNodes).map(({ nodeName }) => nodeName);
  const rest = blocked.length > shownNodes ? ` and ${blocked.length - shownNodes} more` : '';
  const message = `the removal of ${names.join(', ')}${rest} from business cluster "${former}" waits until business cluster "${present}" has Nodes with their instance ids (at most 10 NICs or 20 % at once); to remove their NICs now, set the annotation multinic.io/allow-removals to a new value; to keep them, set the former cluster in the spec again`;
  return { reason: 'RemovalHeld', message };
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
