import type { Effect } from '../../api/effects.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../../api/node-configs-http.ts';
import type { Owner } from '../../plan/plan.ts';
import { compareText, isOwn } from '../../plan/view.ts';
import { mapBounded } from '../../process/bounded.ts';
import type { Perform } from '../../process/effects.ts';
import { RequestError } from '../../requests/request-error.ts';
import { violaFailure } from '../deliver/delivery-rounds.ts';
import type { ViolaClient } from '../deliver/viola-client.ts';

interface WithdrawInput {
  readonly viola: Pick<ViolaClient, 'list' | 'get' | 'remove'>;
  readonly owner: Owner;
  /** Node names in the inventory; a node missing from Viola's list may still exist. */
  readonly known: readonly string[];
  /** Returns the node names whose NICs stay until a user approves their removal. */
  readonly blockedIn: (own: readonly ExistingNodeConfig[]) => ReadonlySet<string>;
  readonly perform: Perform<Effect>;
}

/** An OpenstackConfig's remaining nodes in a business cluster; both lists empty: Viola answered 404 for every node. */
export interface Withdrawn {
  /** Nodes that are not clean yet. */
  readonly leaving: readonly ExistingNodeConfig[];
  /** Nodes whose NICs stay until a user approves their removal. */
  readonly blocked: readonly ExistingNodeConfig[];
}

const callsAtOnce = 8;

/** Removes an OpenstackConfig's nodes from one business cluster, without OpenStack. Throws StepFailure. */
export async function withdraw(input: WithdrawInput, signal: AbortSignal): Promise<Withdrawn> {
  try {
    const own = await readOwn(input, signal);
    const blocked = input.blockedIn(own.filter(isThere));
    const isBlocked = ({ nodeName }: ExistingNodeConfig) => blocked.has(nodeName);
    const going = own.filter((node) => !isBlocked(node));
    return { leaving: await remove(going, input, signal), blocked: own.filter(isBlocked) };
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}

/** Returns the OpenstackConfig's nodes, sorted by name. */
async function readOwn(
  { viola, owner, known }: WithdrawInput,
  signal: AbortSignal,
): Promise<ExistingNodeConfig[]> {
  const query = { fresh: true, source: owner, instanceIds: [] };
  const { nodes: listed, unreadable } = await viola.list(query, signal);
  const isMine = ({ source }: Pick<ExistingNodeConfig, 'source'>) =>
    isOwn({ source }, { owner, force: false });
  refuseUnreadable(unreadable.filter(({ source }) => source === undefined || isMineIn(source)));
  const names = new Set(listed.map(({ nodeName }) => nodeName));
  const unlisted = known.filter((name) => !names.has(name));
  const read = await mapBounded(unlisted, callsAtOnce, (name) => viola.get(name, signal), signal);
  return [...listed, ...read.flatMap((node) => node ?? [])]
    .filter(isMine)
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName));

  /** Returns whether an unreadable object's known source is this OpenstackConfig. */
  function isMineIn(source: UnreadableNode['source']): boolean {
    return source ? isMine({ source }) : false;
  }
}

function isThere({ deletionTimestamp }: ExistingNodeConfig): boolean {
  return deletionTimestamp === undefined;
}

/** Requests removals; returns the nodes that still exist. */
async function remove(
  nodes: readonly ExistingNodeConfig[],
  { viola, perform }: WithdrawInput,
  signal: AbortSignal,
): Promise<ExistingNodeConfig[]> {
  const outcomes = await mapBounded(
    nodes,
    callsAtOnce,
    async (node) => isThere(node) && (await removeNode(node)) === 'gone',
    signal,
  );
  return nodes.filter((_, at) => !outcomes[at]);

  async function removeNode({ nodeName, uid, generation }: ExistingNodeConfig) {
    return perform('operator.node-config.delete', async () =>
      viola.remove(nodeName, { uid, generation }, signal),
    );
  }
}

/** Throws for an unreadable object, because the object may belong to this OpenstackConfig. */
function refuseUnreadable([first]: readonly UnreadableNode[]): void {
  if (first === undefined) return;
  const message = `MultiNicNodeConfig ${first.objectName} cannot be read and may be one of the nodes to clean: ${first.message}`;
  throw new RequestError(message, { service: 'viola', kind: 'badAnswer' });
}
