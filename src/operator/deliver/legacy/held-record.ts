import type { InterfaceSpec } from '../../../api/multinicnodeconfig.ts';
import type { Base, PostedNode, Source } from '../../../api/node-configs-http.ts';
import type { ExistingNode } from '../../../plan/plan.ts';
import type { RecordedDelivery } from '../../../store/deliveries.ts';
import type { StoredNode } from '../../../store/node-configs.ts';

/** Marks records of nodes that a legacy Viola accepted; the uid of their OpenstackConfig follows. */
const mark = 'legacy:';
/** Marks records of nodes whose last POST was not answered, in the same form. */
const openMark = 'legacy-open:';

/** Whether the last POST of the node was not answered. */
export function isUnanswered({ uid }: Pick<StoredNode, 'uid'>): boolean {
  return uid.startsWith(openMark);
}

/**
 * Returns a record as the node that a native Viola would list; it has no status. `sent`: NICs of a POST that was not
 * answered, which the node may have as well as those of the record.
 */
export function heldFrom(
  record: RecordedDelivery,
  sent: readonly InterfaceSpec[] = [],
): ExistingNode {
  const { nodeName, instanceId, uid, generation, author } = record;
  // A record of a native Viola has no OpenstackConfig's uid: its node is posted once, as one that is taken over.
  const used = [mark, openMark].find((prefix) => uid.startsWith(prefix));
  const owner = used === undefined ? '' : uid.slice(used.length);
  const former = record.interfaces.filter((nic) => !sent.some((other) => isSameNic(nic, other)));
  const interfaces = [...sent, ...former];
  return {
    nodeName,
    uid,
    generation,
    source: { ...author, uid: owner, generation: 0 },
    labelledInstanceId: instanceId,
    spec: { nodeName, instanceId, interfaces },
    ...(used === openMark ? { isUnanswered: true } : {}),
  };
}

function isSameNic(a: InterfaceSpec, b: InterfaceSpec): boolean {
  return a.portId === b.portId && a.macAddress === b.macAddress;
}

/** Returns the record of a node that is being sent, with the NICs that it had before. */
export function openRecord(
  { nodeName, instanceId = '', base }: PostedNode,
  before: RecordedDelivery | undefined,
  owner: Pick<Source, 'uid'>,
): StoredNode {
  const generation = (base?.generation ?? 0) + 1;
  const interfaces = before?.interfaces ?? [];
  return { nodeName, instanceId, interfaces, uid: `${openMark}${owner.uid}`, generation };
}

/** Returns the record of a node that a legacy Viola accepted. */
export function recordFrom(
  { nodeName, instanceId = '', interfaces = [], base }: PostedNode,
  owner: Pick<Source, 'uid'>,
): StoredNode {
  const generation = (base?.generation ?? 0) + 1;
  return { nodeName, instanceId, interfaces, uid: `${mark}${owner.uid}`, generation };
}

/** Whether the record of a node is the one that its plan was computed against. */
export function isAt(base: Base | null | undefined, record: Base | undefined): boolean {
  if (base === undefined) return true;
  return base?.uid === record?.uid && base?.generation === record?.generation;
}
