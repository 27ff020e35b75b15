import type { Effect } from '../../api/effects.ts';
import type { HeldNode, UnreadableNode } from '../../api/node-configs-http.ts';
import type { Owner } from '../../plan/plan.ts';
import { compareText, isOwn } from '../../plan/view.ts';
import { mapBounded } from '../../process/bounded.ts';
import type { Perform } from '../../process/effects.ts';
import { RequestError } from '../../requests/request-error.ts';
import type { ViolaClient } from '../deliver/viola-client.ts';

export interface WithdrawInput {
  readonly viola: Pick<ViolaClient, 'list' | 'get' | 'remove'>;
  readonly owner: Owner;
  /** Nodes that were delivered as far as is known; a list alone does not prove that one is gone. */
  readonly known: readonly string[];
  readonly perform: Perform<Effect>;
}

const callsAtOnce = 8;

/**
 * Takes everything that was delivered for an OpenstackConfig out of one business cluster. Answers the nodes that are not
 * gone yet, as they are; empty = every one of them was read as 404. Nothing of OpenStack is needed for it.
 */
export async function withdraw(
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
