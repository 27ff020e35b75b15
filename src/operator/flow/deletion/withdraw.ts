import type { Effect } from '../../../api/effects.ts';
import type {
  DeleteBasis,
  ExistingNodeConfig,
  UnreadableNode,
} from '../../../api/node-configs-http.ts';
import { keptMacs } from '../../../plan/kept-nics.ts';
import { isOwn } from '../../../plan/ownership.ts';
import type { Owner } from '../../../plan/plan.ts';
import { compareText } from '../../../plan/view.ts';
import { mapBounded } from '../../../process/bounded.ts';
import type { Perform } from '../../../process/effects.ts';
import { RequestError } from '../../../requests/request-error.ts';
import type { ViolaClient } from '../../clusters/deliver/viola-client.ts';
import { violaFailure } from '../../clusters/deliver/viola-problem.ts';
import type { DeliveredRemovals } from '../../removals/delivered-bases.ts';

interface OwnNodesInput {
  readonly viola: Pick<ViolaClient, 'list' | 'get'>;
  readonly owner: Owner;
  /** Node names in the inventory; a node missing from Viola's list may still exist. */
  readonly known: readonly string[];
}

interface RemoveOptions {
  readonly viola: Pick<ViolaClient, 'remove'>;
  readonly perform: Perform<Effect>;
}

/** Node to remove, with the basis for all its NICs. */
export interface NodeRemoval {
  readonly node: ExistingNodeConfig;
  readonly basis: DeleteBasis;
}

const callsAtOnce = 8;

/** Returns an OpenstackConfig's nodes in one business cluster, sorted by name, without OpenStack. Throws StepFailure. */
export async function ownNodes(
  input: OwnNodesInput,
  signal: AbortSignal,
): Promise<ExistingNodeConfig[]> {
  try {
    return await readOwn(input, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}

/** Requests removals; returns the nodes that the business cluster has no more. Throws StepFailure. */
export async function removeNodes(
  removals: readonly NodeRemoval[],
  { viola, perform }: RemoveOptions,
  signal: AbortSignal,
): Promise<ReadonlySet<ExistingNodeConfig>> {
  const remove = async ({ node: { nodeName, uid, generation, source }, basis }: NodeRemoval) => {
    const why = { basis, ...(source && { sourceUid: source.uid }) };
    return perform('operator.node-config.delete', async () =>
      viola.remove(nodeName, { uid, generation }, why, signal),
    );
  };
  try {
    const outcomes = await mapBounded(removals, callsAtOnce, remove, signal);
    return new Set(removals.flatMap(({ node }, at) => (outcomes[at] === 'gone' ? node : [])));
  } catch (error) {
    signal.throwIfAborted();
    throw violaFailure(error);
  }
}

/** Returns the NICs that leave; a repeated DELETE decides only about NICs kept by the controller. */
export function removalsByDelete({ node, basis }: NodeRemoval): DeliveredRemovals {
  const { nodeName, spec } = node;
  const listed = (spec.interfaces ?? []).map(({ macAddress }) => macAddress);
  const macs = isThere(node) ? listed : keptMacs(node);
  return { nodeName, nics: macs.map((macAddress) => ({ macAddress, basis })) };
}

async function readOwn(
  { viola, owner, known }: OwnNodesInput,
  signal: AbortSignal,
): Promise<ExistingNodeConfig[]> {
  const query = { fresh: true, source: owner, instanceIds: [] };
  const { nodes: listed, unreadable } = await viola.list(query, signal);
  const isMine = ({ source }: Pick<ExistingNodeConfig, 'source'>) => isOwn({ source }, owner);
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

/** Returns whether the node is not being deleted. */
export function isThere({ deletionTimestamp }: ExistingNodeConfig): boolean {
  return deletionTimestamp === undefined;
}

/** Throws for an unreadable object, because the object may belong to this OpenstackConfig. */
function refuseUnreadable([first]: readonly UnreadableNode[]): void {
  if (first === undefined) return;
  const message = `MultiNicNodeConfig ${first.objectName} cannot be read and may be one of the nodes to clean: ${first.message}`;
  throw new RequestError(message, { service: 'viola', kind: 'badAnswer' });
}
