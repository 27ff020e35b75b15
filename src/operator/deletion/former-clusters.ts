import { findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Reason } from '../../api/reasons.ts';
import { decideRemovals, type RemovalBasis, removalLimits } from '../../api/removals.ts';
import type { Owner, PlanInput } from '../../plan/plan.ts';
import { deliveredFor, nicAt } from '../../plan/view.ts';
import type { Perform } from '../../process/effects.ts';
import type { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import { removalUnsupported } from '../deliver/unsupported.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { StepFailure, type Trouble } from '../status/step-failure.ts';
import type { SyncRequest } from '../sync/request.ts';
import type { TakenOffByHand } from '../sync/taken-off-by-hand.ts';
import { type Withdrawn, withdraw } from './withdraw.ts';

/** What became of nodes in business clusters that the OpenstackConfig names no longer. */
export interface FormerClusters {
  readonly leaving: readonly ExistingNodeConfig[];
  /** Business clusters that nodes are in, or may be in, the present one included. */
  readonly deliveredTo: readonly string[];
  readonly troubles: readonly Trouble[];
}

interface Delivered {
  readonly request: Pick<SyncRequest, 'allowRemovals' | 'config' | 'source' | 'takenOffByHand'>;
  readonly input: Pick<PlanInput, 'selection' | 'observation' | 'cloudInterfaces'>;
  /** What the business cluster holds that the OpenstackConfig names now. */
  readonly held: readonly ExistingNodeConfig[];
  /** As the status of the OpenstackConfig says. */
  readonly deliveredTo: readonly string[] | undefined;
}

interface FormerClustersDeps {
  readonly inventory: Inventory;
  readonly violas: Violas;
  readonly unanswered: UnansweredPosts;
  readonly perform: Perform<Effect>;
}

/**
 * Takes nodes back that were delivered to another business cluster before. A node leaves there when the present one shows a
 * Node with its instance id; a changed setting of the operator or form of credentials alone takes no NIC off.
 */
export async function leaveFormerClusters(
  delivered: Delivered,
  { inventory, violas, unanswered, perform }: FormerClustersDeps,
  signal: AbortSignal,
): Promise<FormerClusters> {
  const { request, deliveredTo } = delivered;
  const { config, source, takenOffByHand } = request;
  const leaving: ExistingNodeConfig[] = [];
  const troubles: Trouble[] = [];
  const clusters = await occupiedBy(source, deliveredTo, inventory);
  const occupied = new Set(clusters.keys());
  for (const [provider, known] of clusters) {
    if (provider === config.providerId) continue;
    try {
      // Before anything is read: what comes after that is not seen.
      const isOpen = unanswered.openForMs(source, provider) > 0;
      const viola = await violas.of(config.viola, provider, source);
      const heldBack = (own: readonly ExistingNodeConfig[]) => heldIn(own, delivered);
      const left = viola.abilities.removes
        ? await withdraw({ viola, owner: source, known, heldBack, perform }, signal)
        : leftByHand(known, provider, takenOffByHand);
      if (left.leaving.length + left.held.length === 0 && !isOpen) {
        await inventory.record(provider, source, []);
        occupied.delete(provider);
      }
      leaving.push(...left.leaving);
      if (left.held.length > 0) troubles.push(heldTrouble(left.held, provider, config.providerId));
    } catch (error) {
      // What was delivered here counts all the same.
      if (!(error instanceof StepFailure)) throw error;
      const message = `nodes in business cluster "${provider}" cannot be removed: ${error.message}`;
      troubles.push({ reason: error.reason, message });
    }
  }
  return { leaving, deliveredTo: [...occupied].toSorted(), troubles };
}

/** Returns that nothing is left behind a legacy Viola. Throws StepFailure unless a user has removed the nodes. */
function leftByHand(
  names: readonly string[],
  provider: string,
  { elsewhere }: TakenOffByHand,
): Withdrawn {
  if (names.length === 0 || elsewhere) return { leaving: [], held: [] };
  const { reason, message } = removalUnsupported(names, provider);
  const next = `${message}; then set the annotation multinic.io/allow-removals to a new value`;
  throw new StepFailure({ reason, message: next });
}

/** Names of the nodes whose NICs wait for consent. */
function heldIn(own: readonly ExistingNodeConfig[], delivered: Delivered): ReadonlySet<string> {
  const nics = own.filter(mayHaveNics).flatMap((node) => {
    const { interfaces = [] } = node.spec;
    const basis = basisOf(node, delivered);
    return interfaces.map((nic) => ({ node, basis, item: nicAt(serverOf(node), nic) }));
  });
  const { held } = decideRemovals({
    removals: nics.map((nic) => ({ ...nic, hasConsent: delivered.request.allowRemovals })),
    recent: [],
    total: delivered.input.cloudInterfaces + nics.length,
    limit: removalLimits.nicsOfCloud,
  });
  return new Set(nics.filter(({ item }) => held.has(item)).map(({ node }) => node.nodeName));
}

/** A controller that has found no Node for an object, and sent no agent for it, has put nothing on any. */
function mayHaveNics({ status, generation }: ExistingNodeConfig): boolean {
  const { applied, knownInterfaces = [], observedGeneration, conditions } = status ?? {};
  const { reason } = findCondition(conditions, 'Ready') ?? {};
  const isNowhere = observedGeneration === generation && reason === 'NodeNotFound';
  return !isNowhere || applied !== undefined || knownInterfaces.length > 0;
}

/** Somebody's edit of the instance id alone deselects nothing. */
function serverOf(node: ExistingNodeConfig): string {
  return deliveredFor(node)?.toLowerCase() ?? '';
}

function basisOf(node: ExistingNodeConfig, { request, input, held }: Delivered): RemovalBasis {
  const instanceId = serverOf(node);
  const { selection, observation } = input;
  const isDeleted = observation.servers.some((server) => {
    return server.id === instanceId && server.status === 'DELETED';
  });
  if (isDeleted || held.some((one) => showsNode(one, instanceId))) return 'proven';
  const isDeselected = selection.pinned.servers && !selection.serverIds.includes(instanceId);
  return isDeselected && node.source?.uid === request.source.uid ? 'named' : 'sideEffect';
}

/** Whether the controller works for this object, as it is, on a Node with this instance id. */
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

/** Reasons of a controller that has no node for an object now, whatever it did before. */
const withoutNode: ReadonlySet<string> = new Set<Reason>([
  'NodeNotFound',
  'DuplicateSystemUUID',
  'DuplicateInstanceId',
  'OtherControllerActive',
]);

const shownNodes = 5;

function heldTrouble(
  held: readonly ExistingNodeConfig[],
  former: string,
  present: string,
): Trouble {
  const names = held.slice(0, shownNodes).map(({ nodeName }) => nodeName);
  const rest = held.length > shownNodes ? ` and ${held.length - shownNodes} more` : '';
  const message = `${names.join(', ')}${rest} stay in business cluster "${former}" until "${present}" shows Nodes with their instance ids (at most 10 NICs or 20 % at once); if their NICs are to go now, set the annotation multinic.io/allow-removals to a new value; else name the former cluster again`;
  return { reason: 'RemovalHeld', message };
}

/** Business clusters that nodes are, or may be, in, with the nodes that the inventory knows by name. */
export async function occupiedBy(
  owner: Owner,
  deliveredTo: readonly string[] | undefined,
  inventory: Pick<Inventory, 'nodesOf'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  // The status alone says in which clusters they are; an inventory that cannot be read holds nothing up.
  const recorded = await inventory.nodesOf(owner);
  const named = (deliveredTo ?? []).map((provider) => [provider, []] as const);
  return new Map([...named, ...(recorded ?? [])]);
}
