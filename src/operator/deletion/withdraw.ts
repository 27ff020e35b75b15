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
  /** Nodes that were delivered as far as is known; a list alone does not prove that one is gone. */
  readonly known: readonly string[];
  /** Names of the nodes, of these, whose NICs stay until somebody agrees. */
  readonly heldBack: (own: readonly ExistingNodeConfig[]) => ReadonlySet<string>;
  readonly perform: Perform<Effect>;
}

/** What is left of an OpenstackConfig in a business cluster; nothing = every one of its nodes was read as 404. */
export interface Withdrawn {
  /** Nodes that are not clean yet. */
  readonly leaving: readonly ExistingNodeConfig[];
  /** Nodes whose NICs stay until somebody agrees. */
  readonly held: readonly ExistingNodeConfig[];
}

const callsAtOnce = 8;

/**
 * Takes what was delivered for an OpenstackConfig out of one business cluster. Nothing of OpenStack is needed for it.
 * Throws StepFailure.
 */
export async function withdraw(input: WithdrawInput, signal: AbortSignal): Promise<Withdrawn> {
  try {
    const own = await readOwn(input, signal);
    const heldBack = input.heldBack(own.filter(isThere));
    const isHeld = ({ nodeName }: ExistingNodeConfig) => heldBack.has(nodeName);
    const going = own.filter((node) => !isHeld(node));
    return { leaving: await remove(going, input, signal), held: own.filter(isHeld) };
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}

/** The nodes of an OpenstackConfig, in the order of their names. */
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

  /** Of an object that cannot be read it may still be known whose it is. */
  function isMineIn(source: UnreadableNode['source']): boolean {
    return source ? isMine({ source }) : false;
  }
}

function isThere({ deletionTimestamp }: ExistingNodeConfig): boolean {
  return deletionTimestamp === undefined;
}

/** Answers the nodes that are not gone yet. */
async function remove(
  nodes: readonly ExistingNodeConfig[],
  { viola, perform }: WithdrawInput,
  signal: AbortSignal,
): Promise<ExistingNodeConfig[]> {
  const outcomes = await mapBounded(
    nodes,
    callsAtOnce,
    async (node) => isThere(node) && (await ask(node)) === 'gone',
    signal,
  );
  return nodes.filter((_, at) => !outcomes[at]);

  async function ask({ nodeName, uid, generation }: ExistingNodeConfig) {
    return perform('operator.node-config.delete', async () =>
      viola.remove(nodeName, { uid, generation }, signal),
    );
  }
}

/** An object that cannot be read may be ours: unknown is not absent. */
function refuseUnreadable([first]: readonly UnreadableNode[]): void {
  if (first === undefined) return;
  const message = `${first.objectName} may be one of the nodes to clean and cannot be read: ${first.message}`;
  throw new RequestError(message, { service: 'viola', kind: 'badAnswer' });
}
