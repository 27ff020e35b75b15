import type { InterfaceSpec } from '../../../../api/multinicnodeconfig.ts';
import type { Base, PostedNode, Source } from '../../../../api/node-configs-http.ts';
import type { RemovalBasis } from '../../../../api/removals.ts';
import type { ExistingNode } from '../../../../plan/plan.ts';
import type { RecordedDelivery } from '../../../../store/deliveries.ts';
import type { StoredNode } from '../../../../store/node-configs.ts';
import type { RemovalBases } from '../../../../store/removal-bases.ts';

/** Uid prefix of nodes accepted by a legacy Viola; the OpenstackConfig's uid follows. */
const mark = 'legacy:';
/** Uid prefix of nodes whose last POST has no answer; the OpenstackConfig's uid follows. */
const openMark = 'legacy-open:';

/** Returns whether the node's last POST has no answer. */
export function isUnanswered({ uid }: Pick<StoredNode, 'uid'>): boolean {
  return uid.startsWith(openMark);
}

/**
 * Returns a record in the form of a native Viola's node, without status. `sent`: NICs of an unanswered POST, which the
 * node may have in addition to the record's NICs.
 */
export function existingNodeFrom(
  record: RecordedDelivery,
  sent: readonly InterfaceSpec[] = [],
): ExistingNode {
  const { nodeName, instanceId, uid, generation, author } = record;
  // A native Viola's record has no OpenstackConfig uid: its node is posted once, like a node taken over.
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

/** A port made again with the MAC is the same NIC. */
function isSameNic(a: InterfaceSpec, b: InterfaceSpec): boolean {
  return a.macAddress.toLowerCase() === b.macAddress.toLowerCase();
}

/** Returns a node's record during its POST, with the NICs from before the POST. */
export function openRecord(
  { nodeName, instanceId = '', base }: PostedNode,
  before: RecordedDelivery | undefined,
  owner: Pick<Source, 'uid'>,
): StoredNode {
  const generation = (base?.generation ?? 0) + 1;
  const interfaces = before?.interfaces ?? [];
  return { nodeName, instanceId, interfaces, uid: `${openMark}${owner.uid}`, generation };
}

/** Returns the record of a node accepted by a legacy Viola. */
export function recordFrom(
  { nodeName, instanceId = '', interfaces = [], base }: PostedNode,
  owner: Pick<Source, 'uid'>,
): StoredNode {
  const generation = (base?.generation ?? 0) + 1;
  return { nodeName, instanceId, interfaces, uid: `${mark}${owner.uid}`, generation };
}

/** Returns the bases of posted removals; a removal without evidence and consent is a named act. */
export function basesIn(
  nodes: readonly PostedNode[],
  before: ReadonlyMap<string, RecordedDelivery>,
): RemovalBases {
  return new Map(
    nodes.map(({ nodeName, removals }) => {
      const recorded = removals === undefined ? [] : (before.get(nodeName)?.interfaces ?? []);
      const macs = recorded.map(({ macAddress }) => macAddress.toLowerCase());
      return [nodeName, new Map(macs.map((mac) => [mac, basisOf(mac, removals)]))];
    }),
  );
}

function basisOf(mac: string, removals: PostedNode['removals']): RemovalBasis {
  if (removals?.proven.includes(mac)) return 'evidence';
  return removals?.consented.includes(mac) ? 'consent' : 'named';
}

/** Returns whether the plan was computed against this record. */
export function isAt(base: Base | null | undefined, record: Base | undefined): boolean {
  if (base === undefined) return true;
  return base?.uid === record?.uid && base?.generation === record?.generation;
}
