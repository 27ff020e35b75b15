import type { Effect } from '../../api/effects.ts';
import type { HeldNode, UnreadableNode } from '../../api/node-configs-http.ts';
import type { Owner } from '../../plan/plan.ts';
import { compareText, isOwn } from '../../plan/view.ts';
import { mapBounded } from '../../process/bounded.ts';
import type { Perform } from '../../process/effects.ts';
import { RequestError } from '../../requests/request-error.ts';
import { violaFailure } from '../deliver/delivery-rounds.ts';
import type { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import type { ViolaClient } from '../deliver/viola-client.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { StepFailure, type Trouble } from '../status/step-failure.ts';
import type { SyncRequest } from '../sync/request.ts';

interface WithdrawInput {
  readonly viola: Pick<ViolaClient, 'list' | 'get' | 'remove'>;
  readonly owner: Owner;
  /** Nodes that were delivered as far as is known; a list alone does not prove that one is gone. */
  readonly known: readonly string[];
  readonly perform: Perform<Effect>;
}

const callsAtOnce = 8;

/**
 * Takes everything that was delivered for an OpenstackConfig out of one business cluster. Answers the nodes that are not
 * gone yet, as they are; empty = every one of them was read as 404. Nothing of OpenStack is needed for it. Throws
 * StepFailure.
 */
export async function withdraw(input: WithdrawInput, signal: AbortSignal): Promise<HeldNode[]> {
  try {
    return await removeOwn(input, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}

async function removeOwn(
  { viola, owner, known, perform }: WithdrawInput,
  signal: AbortSignal,
): Promise<HeldNode[]> {
  const query = { fresh: true, source: owner, instanceIds: [] };
  const { nodes: held, unreadable } = await viola.list(query, signal);
  refuseUnreadable(unreadable.filter((node) => mayBeOwn(node, owner)));
  const own = held.filter((node) => isOwn(node, owner));
  const listed = new Set(held.map(({ nodeName }) => nodeName));
  const unlisted = known.filter((name) => !listed.has(name));
  const left: HeldNode[] = [];
  const check = async (item: HeldNode | string) => {
    const node = typeof item === 'string' ? await viola.get(item, signal) : item;
    if (!node || !isOwn(node, owner)) return;
    const gone = node.deletionTimestamp === undefined && (await ask(node)) === 'gone';
    if (!gone) left.push(node);
  };
  await mapBounded([...own, ...unlisted], callsAtOnce, check, signal);
  return left.toSorted((a, b) => compareText(a.nodeName, b.nodeName));

  async function ask({ nodeName, uid, generation }: HeldNode) {
    return perform('operator.node-config.delete', async () =>
      viola.remove(nodeName, { uid, generation }, signal),
    );
  }
}

/** Of an object that cannot be read it may still be known whose it is. */
function mayBeOwn({ source }: UnreadableNode, owner: Owner): boolean {
  return source === undefined || (source !== null && isOwn({ source }, owner));
}

/** An object that cannot be read may be ours: unknown is not absent. */
function refuseUnreadable([first]: readonly UnreadableNode[]): void {
  if (first === undefined) return;
  const message = `${first.objectName} may be one of the nodes to clean and cannot be read: ${first.message}`;
  throw new RequestError(message, { service: 'viola', kind: 'badAnswer' });
}

export interface LeavingOthers {
  readonly leaving: readonly HeldNode[];
  /** Business clusters that nodes are in, or may be in. */
  readonly deliveredTo: readonly string[];
  readonly troubles: readonly Trouble[];
}

interface Delivered extends Pick<SyncRequest, 'config' | 'source'> {
  /** As the status of the OpenstackConfig says. */
  readonly deliveredTo: readonly string[] | undefined;
}

interface LeaveOthersDeps {
  readonly inventory: Inventory;
  readonly violas: Violas;
  readonly unanswered: UnansweredPosts;
  readonly perform: Perform<Effect>;
}

/** Takes nodes back that were delivered to another business cluster before the CR named this one. */
export async function leaveOthers(
  { config, source, deliveredTo }: Delivered,
  { inventory, violas, unanswered, perform }: LeaveOthersDeps,
  signal: AbortSignal,
): Promise<LeavingOthers> {
  const leaving: HeldNode[] = [];
  const troubles: Trouble[] = [];
  const { clusters } = await occupiedBy(source, deliveredTo, inventory);
  const occupied = new Set(clusters.keys());
  for (const [provider, known] of clusters) {
    if (provider === config.providerId) continue;
    try {
      // Before anything is read: what comes after that is not seen.
      const isOpen = unanswered.openForMs(source, provider) > 0;
      const viola = await violas.of(config.viola, provider);
      const left = await withdraw({ viola, owner: source, known, perform }, signal);
      if (left.length === 0 && !isOpen) {
        await inventory.record(provider, source, []);
        occupied.delete(provider);
      }
      leaving.push(...left);
    } catch (error) {
      // What was delivered here counts all the same.
      if (!(error instanceof StepFailure)) throw error;
      const message = `nodes in business cluster "${provider}" cannot be removed: ${error.message}`;
      troubles.push({ reason: error.reason, message });
    }
  }
  return { leaving, deliveredTo: [...occupied].toSorted(), troubles };
}

/** Business clusters that nodes of an OpenstackConfig are in, or may be in. */
export interface Occupied {
  /** With the nodes that the inventory knows by name. */
  readonly clusters: ReadonlyMap<string, readonly string[]>;
  /** False while the inventory, which may know more, cannot be read. */
  readonly complete: boolean;
}

/** What the status says and the inventory knows. */
export async function occupiedBy(
  owner: Owner,
  deliveredTo: readonly string[] | undefined,
  inventory: Pick<Inventory, 'nodesOf'>,
): Promise<Occupied> {
  const recorded = await inventory.nodesOf(owner);
  const named = (deliveredTo ?? []).map((provider) => [provider, []] as const);
  return { clusters: new Map([...named, ...(recorded ?? [])]), complete: recorded !== undefined };
}
