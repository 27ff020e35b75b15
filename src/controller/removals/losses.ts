import type { RemovalBasis } from '../../api/removals.ts';
import type { Node } from '../../kube/core-resources.ts';
import { deliveredMacs, recordOf } from '../jobs/applied.ts';
import { type AcceptedSpec, acceptSpec, contentHash } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { FormerNode } from '../records/former-node.ts';
import type { NodeRecords } from '../records/node-records.ts';

/** NICs that would leave a node because of an object's current spec. */
export interface Removal {
  readonly basis: Exclude<RemovalBasis, 'proven'>;
  readonly nodeName: string;
  readonly macs: readonly string[];
  /** Explanation for users. */
  readonly why: string;
}

export interface RemovalInput {
  readonly config: NodeConfig;
  readonly spec: AcceptedSpec;
  /** The object's current Node. */
  readonly node: Node;
  readonly former: FormerNode | undefined;
}

/**
 * Returns NICs that leave a node when the object is applied. Named removal: the spec dropped NICs delivered to its
 * node. Two side effects follow from a changed instance id (or node name, without an instance id). First, NICs left on
 * the former node, unless another object now covers them. Second, NICs delivered by another object to the new node.
 * Returns undefined once an agent run has started for the removal: consent is requested once.
 */
export function removalOf(
  input: RemovalInput,
  records: Pick<NodeRecords, 'others'>,
): Removal | undefined {
  return leftBehind(input) ?? displaced(input, records) ?? dropped(input);
}

/** Returns NICs that leave the former node. */
function leftBehind({ config, former }: RemovalInput): Removal | undefined {
  if (!former) return undefined;
  const { node, successor } = former;
  const { name: nodeName } = node.metadata;
  const record = recordOf(config);
  // The clean-up has already started.
  if (!successor && record?.action === 'cleanup') return undefined;
  const macs = missing(deliveredMacs(config), successor && acceptSpec(successor));
  return loss({
    basis: 'sideEffect',
    nodeName,
    macs,
    why: 'the object now refers to another node',
  });
}

/** Returns an object in deletion whose NICs on the node are missing here: its own deletion needs consent first. */
export function leavingFirst(
  { config, spec, node }: Pick<RemovalInput, 'config' | 'spec' | 'node'>,
  records: Pick<NodeRecords, 'others'>,
): NodeConfig | undefined {
  return records
    .others(config, node.metadata.name)
    .filter((other) => other.metadata.deletionTimestamp !== undefined && isOn(other, node))
    .find((other) => missing(deliveredMacs(other), spec).length > 0);
}

/** Returns another object's NICs on the node; for objects in deletion see `leavingFirst`. */
function displaced(
  { config, spec, node }: RemovalInput,
  records: Pick<NodeRecords, 'others'>,
): Removal | undefined {
  const { name: nodeName } = node.metadata;
  for (const other of records.others(config, nodeName)) {
    if (other.metadata.deletionTimestamp !== undefined || !isOn(other, node)) continue;
    const macs = missing(deliveredMacs(other), spec);
    const why = `MultiNicNodeConfig ${other.metadata.name} configured them, and this object now refers to the node`;
    const found = loss({ basis: 'sideEffect', nodeName, macs, why });
    if (found) return found;
  }
  return undefined;
}

/** Returns NICs dropped from the spec. */
function dropped({ config, spec, node }: RemovalInput): Removal | undefined {
  const record = recordOf(config);
  if (!record || !isOn(config, node)) return undefined;
  if (record.action === 'apply' && record.content === contentHash(node, spec)) return undefined;
  const macs = missing(deliveredMacs(config), spec);
  const why = 'the spec no longer lists them';
  return loss({ basis: 'named', nodeName: node.metadata.name, macs, why });
}

/**
 * True if the record is about this Node's machine. A re-registered Node is the same machine unless its machine id
 * differs.
 */
export function isOn(config: NodeConfig, node: Node): boolean {
  const record = recordOf(config);
  if (record?.nodeName !== node.metadata.name) return false;
  const { machineID } = node.status?.nodeInfo ?? {};
  return !record.machineId || !machineID || record.machineId === machineID;
}

/** An unreadable spec removes nothing; an unusable entry removes nothing either. */
function missing(macs: readonly string[], spec: AcceptedSpec | undefined): readonly string[] {
  if (spec?.blocked !== undefined) return [];
  const stay = new Set([...(spec?.interfaces ?? []).map(({ mac }) => mac), ...(spec?.keep ?? [])]);
  return macs.filter((mac) => !stay.has(mac));
}

/** True if releasing the object removes NICs that its successor does not have. */
export function losesToSuccessor(config: NodeConfig, successor: NodeConfig): boolean {
  return missing(deliveredMacs(config), acceptSpec(successor)).length > 0;
}

function loss(found: Removal): Removal | undefined {
  return found.macs.length === 0 ? undefined : found;
}
