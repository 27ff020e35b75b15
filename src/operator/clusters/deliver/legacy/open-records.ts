import type { PostedNode, Source } from '../../../../api/node-configs-http.ts';
import type { ExistingNode } from '../../../../plan/plan.ts';
import { isRequestError, type RequestError } from '../../../../requests/request-error.ts';
import type { DeliveryFilter, RecordedDelivery } from '../../../../store/deliveries.ts';
import type { DeliveryRecords } from './delivery-records.ts';
import { existingNodeFrom, isUnanswered, openRecord } from './node-record.ts';

interface About {
  readonly records: DeliveryRecords;
  readonly providerId: string;
  readonly owner: Source;
  /** Records before the POST by node name. */
  readonly before: ReadonlyMap<string, RecordedDelivery>;
}

/** Returns recorded nodes; a node with an unanswered POST has the POST's NICs, too. */
export async function recordedNodes(
  records: DeliveryRecords,
  filter: DeliveryFilter,
): Promise<ExistingNode[]> {
  const found = await records.find(filter);
  const open = found.filter(isUnanswered).map(({ instanceId }) => instanceId);
  const nics = open.length === 0 ? [] : await records.nicsOf(open);
  const sent = new Map(nics.map(({ instanceId, interfaces }) => [instanceId, interfaces]));
  return found.map((record) =>
    existingNodeFrom(record, isUnanswered(record) ? sent.get(record.instanceId) : []),
  );
}

/** Records nodes before their POST: without an answer, the business cluster may hold the posted nodes. */
export async function begin(
  nodes: readonly PostedNode[],
  { records, providerId, owner, before }: About,
): Promise<void> {
  const own = nodes.filter((node) => isOwn(before.get(node.nodeName), owner));
  const opened = own.map((node) => openRecord(node, before.get(node.nodeName), owner));
  await records.add(providerId, owner, opened);
  const sent = nodes.map(({ nodeName, instanceId = '', interfaces = [] }) => ({
    nodeName,
    instanceId,
    interfaces,
  }));
  await records.reserve(sent);
}

/**
 * Restores the records from before a POST that certainly changed nothing. A node with an earlier unanswered POST stays
 * open.
 */
export async function undo(
  nodes: readonly PostedNode[],
  { records, providerId, owner, before }: About,
): Promise<void> {
  const names = nodes.map(({ nodeName }) => nodeName);
  const former = names.flatMap((name) => before.get(name) ?? []);
  const own = former.filter((record) => isOwn(record, owner) && !isUnanswered(record));
  const fresh = names.filter((name) => !before.has(name));
  await records.add(providerId, owner, own, fresh);
}

/** A node being taken over keeps its former OpenstackConfig in the inventory until Viola accepts the node. */
function isOwn(before: RecordedDelivery | undefined, { namespace, name }: Source): boolean {
  return !before || (before.author.namespace === namespace && before.author.name === name);
}

const unconnected: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Returns whether a failed POST certainly changed nothing. */
export function isWithoutEffect({ status, kind, cause }: RequestError): boolean {
  if (status !== undefined) return status >= 400 && status < 500;
  if (isRequestError(cause)) return isWithoutEffect(cause);
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return kind === 'denied' || unconnected.has(code);
}
