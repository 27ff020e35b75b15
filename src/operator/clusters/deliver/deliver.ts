import type { Effect } from '../../../api/effects.ts';
import type {
  DeleteBasis,
  DeleteReason,
  NodeError,
  NodeResult,
  PostedNode,
  Source,
} from '../../../api/node-configs-http.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { RemovalBasis } from '../../../api/removals.ts';
import type { NodePlan, Removal } from '../../../plan/plan.ts';
import { mapBounded } from '../../../process/bounded.ts';
import type { Perform } from '../../../process/effects.ts';
import { isRequestError, RequestError } from '../../../requests/request-error.ts';
import { lastNicStays, needsRemoval } from './unsupported.ts';
import type { ViolaClient } from './viola-client.ts';
import { codeOfNode, violaMessage } from './viola-problem.ts';

/** Outcome for the plan's nodes that needed a POST or DELETE. */
export interface Delivery {
  readonly accepted: readonly NodeResult[];
  /** Nodes removed by Viola, already or soon. */
  readonly removed: readonly string[];
  /** Nodes changed since their read; read and planned again. */
  readonly stale: readonly string[];
  /** Nodes waiting for a deletion or cleanup; synced again soon. */
  readonly waiting: readonly string[];
  readonly failures: readonly DeliveryFailure[];
}

interface DeliveryFailure {
  readonly nodeName: string;
  readonly reason: Extract<OperatorReason, 'ViolaPostError' | 'RemovalUnsupported'>;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  /** `refused`: the node fails until a user changes something. `outage`: the failure passes without a user. */
  readonly kind: 'refused' | 'outage';
  /** True: the node's object belongs to a further id. */
  readonly isOfOtherId?: boolean;
}

export interface DeliverOptions {
  readonly viola: Pick<ViolaClient, 'abilities' | 'post' | 'remove'>;
  readonly source: Source;
  /** True: every node is posted in mode Observe. */
  readonly observes?: boolean | undefined;
  readonly perform: Perform<Effect>;
  /** Called when a POST failed, wholly or for a node, and Viola may still carry out the POST. */
  readonly onUnanswered: () => void;
  /** Nodes cleaned by a user, because Viola cannot remove nodes. */
  readonly manualRemovals: ReadonlySet<string>;
}

/** A business cluster needs some 15 ms per node, and one request should take at most a few seconds. */
const nodesPerPost = 100;
/** Bytes; half Viola's limit. Nodes with many routes are large. */
const bytesPerPost = 2 * 1024 * 1024;
const removalsAtOnce = 8;

/** Sends a plan's POSTs and DELETEs; a failing node never blocks other nodes. */
export async function deliver(
  nodes: readonly NodePlan[],
  options: DeliverOptions,
  signal: AbortSignal,
): Promise<Delivery> {
  const tally = new Tally();
  const { abilities } = options.viola;
  const possible = abilities.removes ? nodes : withoutRemovals(nodes, options, tally);
  const posts = postsOf(possible, options);
  const send = async (chunk: readonly PostedNode[]) => post(chunk, options, tally, signal);
  await mapBounded(posts, abilities.postsAtOnce, send, signal);
  const removals = possible.filter(({ action }) => action === 'delete');
  const removeOne = async (node: NodePlan) => remove(node, options, tally, signal);
  await mapBounded(removals, removalsAtOnce, removeOne, signal);
  return tally;
}

/** Returns the nodes that keep a NIC; this Viola cannot take the remaining nodes. */
function withoutRemovals(
  nodes: readonly NodePlan[],
  { manualRemovals }: DeliverOptions,
  tally: Tally,
): readonly NodePlan[] {
  for (const node of nodes.filter(needsRemoval)) {
    const { nodeName, removals } = node;
    // A native Viola has already left the object without NICs.
    const isClean = removals.confirmed.length === 0;
    if (isClean || manualRemovals.has(nodeName)) tally.removed.push(nodeName);
    else tally.unsupported(nodeName, lastNicStays(node));
  }
  return nodes.filter((node) => !needsRemoval(node));
}

class Tally implements Delivery {
  readonly accepted: NodeResult[] = [];
  readonly removed: string[] = [];
  readonly stale: string[] = [];
  readonly waiting: string[] = [];
  readonly failures: DeliveryFailure[] = [];
  /** Failure of Viola as a whole: this sync sends nothing more. */
  outage: RequestError | undefined;

  /** Returns a call's failure. An unanswered call ends the delivery, because the next call would fail, too. */
  outageOf(error: unknown, signal: AbortSignal): RequestError {
    signal.throwIfAborted();
    if (!isRequestError(error)) throw error;
    if (isRequestError(error, 'timeout', 'unreachable', 'rateLimited')) this.outage = error;
    return error;
  }

  failed(nodeName: string, error: RequestError): void {
    const reason = 'ViolaPostError';
    const { retryAfterMs } = error;
    const message = violaMessage(error);
    this.failures.push({ nodeName, reason, message, retryAfterMs, kind: 'outage' });
  }

  unsupported(nodeName: string, message: string): void {
    const reason = 'RemovalUnsupported';
    this.failures.push({ nodeName, reason, message, retryAfterMs: undefined, kind: 'refused' });
  }

  refused({ nodeName, code, field, message }: NodeError): void {
    if (code === 'StaleBase') this.stale.push(nodeName);
    else if (code === 'Deleting') this.waiting.push(nodeName);
    else {
      const where = field === '' || field === 'base' ? '' : `${field}: `;
      const text = `${codeOfNode(code)}: viola: node ${nodeName}: ${code}: ${where}${message}`;
      const about = { nodeName, reason: 'ViolaPostError', message: text } as const;
      const isOfOtherId = code === 'Invalid' && field === 'providerId';
      const kind = kindOf(code);
      this.failures.push({ ...about, retryAfterMs: undefined, kind, isOfOtherId });
    }
  }
}

/** A failing business cluster fails for every node alike. */
function kindOf(code: NodeError['code']): DeliveryFailure['kind'] {
  return code === 'ClusterUnreachable' ? 'outage' : 'refused';
}

/** Returns the bodies for a plan's POSTs. */
export function postsOf(nodes: readonly NodePlan[], author: Author): PostedNode[][] {
  return chunks(nodes.filter(({ action }) => action === 'post').map(postedBy(author)));
}

/** OpenstackConfig behind the POSTs, with its mode. */
export type Author = Pick<DeliverOptions, 'source' | 'observes'>;

function postedBy({ source, observes }: Author): (node: NodePlan) => PostedNode {
  return (node) => ({
    nodeName: node.nodeName,
    instanceId: node.instanceId,
    interfaces: [...node.interfaces],
    base: node.base,
    source: sourceFor(node, source),
    ...(observes ? { mode: 'Observe' as const } : {}),
    ...(node.adopts ? { existingConfiguration: 'Adopt' as const } : {}),
    ...removalsIn(node),
  });
}

function sourceFor({ replaces, cloud }: NodePlan, source: Source): Source {
  return {
    ...source,
    ...(cloud === undefined ? {} : { cloud }),
    ...(replaces === undefined ? {} : { replaces: [...replaces] }),
  };
}

/**
 * Returns the leaving NICs for a POST, by basis. An earlier Viola reads only `removalsAllowed`, and stores consent
 * without an end: evidence alone sets no consent.
 */
function removalsIn(node: NodePlan): Pick<PostedNode, 'removals' | 'removalsAllowed'> {
  const leaving = nicsInRequest(node);
  if (node.base === null || (leaving.length === 0 && node.keptNics === undefined)) return {};
  const macsOf = (basis: RemovalBasis) =>
    leaving.filter((nic) => nic.basis === basis).map(({ macAddress }) => macAddress.toLowerCase());
  const removals = { proven: macsOf('evidence'), consented: macsOf('consent') };
  const { proven, consented } = removals;
  const isComplete = proven.length + consented.length === leaving.length && !keepsUnnamed(node);
  const isAllowed = isComplete && (consented.length > 0 || node.removalsAllowed === true);
  return { removals, ...(isAllowed ? { removalsAllowed: true } : {}) };
}

/** Returns the NICs that leave a node: removals in the plan, and NICs kept by the controller. */
function nicsInRequest({ removals, keptNics = [] }: NodePlan): KeptOrGoing[] {
  return [...removals.confirmed, ...keptNics];
}

type KeptOrGoing = Pick<Removal, 'macAddress' | 'basis'>;

/**
 * Returns a deletion's basis. Evidence and consent must cover all NICs on the node; Viola proves only listed NICs, so
 * evidence needs to cover only these.
 */
function deleteBasisOf(node: NodePlan): DeleteBasis {
  if (node.deleteBasis) return node.deleteBasis;
  const { confirmed } = node.removals;
  if (confirmed.length > 0 && confirmed.every(({ basis }) => basis === 'evidence')) {
    return 'evidence';
  }
  const nics = nicsInRequest(node);
  const isCovered = nics.every(({ basis }) => basis === 'consent' || basis === 'evidence');
  return isCovered && !keepsUnnamed(node) && nics.length > 0 ? 'consent' : 'named';
}

/** True if the controller keeps NICs without naming them, and no consent covers these. */
function keepsUnnamed({ keptNics, removalsAllowed = false }: NodePlan): boolean {
  return keptNics?.length === 0 && !removalsAllowed;
}

async function post(
  chunk: readonly PostedNode[],
  options: DeliverOptions,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const { viola, perform } = options;
  try {
    if (tally.outage) throw tally.outage;
    const answer = await perform('operator.node-config.post', async () =>
      viola.post(chunk, signal),
    );
    const silent = unanswered(chunk, answer);
    if (silent.length > 0 || answer.errors.some(isOpen)) options.onUnanswered();
    tally.accepted.push(...answer.results);
    for (const error of answer.errors) tally.refused(error);
    for (const { nodeName } of silent) {
      const details = { service: 'viola', kind: 'badAnswer', status: 200 } as const;
      tally.failed(
        nodeName,
        new RequestError(`node ${nodeName} is missing from the answer of Viola`, details),
      );
    }
  } catch (error) {
    options.onUnanswered();
    const failure = tally.outageOf(error, signal);
    if (failure.kind === 'tooLarge' && chunk.length > 1) {
      const half = Math.ceil(chunk.length / 2);
      await post(chunk.slice(0, half), options, tally, signal);
      await post(chunk.slice(half), options, tally, signal);
      return;
    }
    for (const { nodeName } of chunk) tally.failed(nodeName, failure);
  }
}

/** Returns whether a failed write may still take effect: etcd may have the write without an API server's answer. */
function isOpen({ code }: NodeError): boolean {
  return ['ClusterUnreachable', 'Internal'].includes(code);
}

/** Returns the nodes missing from the answer; a missing node counts as failed. */
function unanswered(
  chunk: readonly PostedNode[],
  { results, errors }: Awaited<ReturnType<ViolaClient['post']>>,
): readonly PostedNode[] {
  const named = new Set([...results, ...errors].map(({ nodeName }) => nodeName));
  return chunk.filter(({ nodeName }) => !named.has(nodeName));
}

/** Returns `server-gone` for a deleted server: no cleanup is needed, and the controller does not wait for its Node. */
function reasonOf({ confirmed }: NodePlan['removals']): DeleteReason | undefined {
  const isGone = confirmed.length > 0 && confirmed.every(({ cause }) => cause === 'serverDeleted');
  return isGone ? 'server-gone' : undefined;
}

async function remove(
  node: NodePlan,
  { viola, perform }: DeliverOptions,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName, base } = node;
  const reason = reasonOf(node.removals);
  const why = { basis: deleteBasisOf(node), ...(reason && { reason }) };
  try {
    if (tally.outage) throw tally.outage;
    const outcome = await perform('operator.node-config.delete', async () =>
      viola.remove(nodeName, base, why, signal),
    );
    // A `leaving` node is not clean yet; a `stale` node is read and planned again soon.
    if (outcome !== 'gone') tally.waiting.push(nodeName);
    if (outcome !== 'stale') tally.removed.push(nodeName);
  } catch (error) {
    tally.failed(nodeName, tally.outageOf(error, signal));
  }
}

function chunks(nodes: readonly PostedNode[]): PostedNode[][] {
  const result: PostedNode[][] = [];
  let bytes = 0;
  for (const node of nodes) {
    const size = Buffer.byteLength(JSON.stringify(node));
    const last = result.at(-1);
    if (last === undefined || last.length === nodesPerPost || bytes + size > bytesPerPost) {
      result.push([node]);
      bytes = size;
    } else {
      last.push(node);
      bytes += size;
    }
  }
  return result;
}
