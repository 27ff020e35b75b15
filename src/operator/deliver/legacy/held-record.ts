import type { Base, HeldNode, PostedNode, Source } from '../../../api/node-configs-http.ts';
import type { RecordedDelivery } from '../../../store/deliveries.ts';
import type { StoredNode } from '../../../store/node-configs.ts';

/** Marks records of nodes that a legacy Viola accepted; the uid of their OpenstackConfig follows. */
const mark = 'legacy:';

/** Returns a record as the node that a native Viola would list; it has no status. */
export function heldFrom(record: RecordedDelivery): HeldNode {
  const { nodeName, instanceId, interfaces, uid, generation, author } = record;
  // A record of a native Viola has no OpenstackConfig's uid: its node is posted once, as one that is taken over.
  const owner = uid.startsWith(mark) ? uid.slice(mark.length) : '';
  return {
    nodeName,
    uid,
    generation,
    source: { ...author, uid: owner, generation: 0 },
    labelledInstanceId: instanceId,
    spec: { nodeName, instanceId, interfaces: [...interfaces] },
  };
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
