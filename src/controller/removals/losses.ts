import type { RemovalBasis } from '../../api/removals.ts';
import type { Node } from '../../kube/core-resources.ts';
import { deliveredMacs, recordOf } from '../jobs/applied.ts';
import { type AcceptedSpec, acceptSpec, contentHash } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { FormerNode } from '../records/former-node.ts';
import type { NodeRecords } from '../records/node-records.ts';

/** NICs that would leave a node because of what an object says now. */
export interface Removal {
  readonly basis: Exclude<RemovalBasis, 'proven'>;
  readonly nodeName: string;
  readonly macs: readonly string[];
  /** Why, for people. */
  readonly why: string;
}

export interface RemovalInput {
  readonly config: NodeConfig;
  readonly spec: AcceptedSpec;
  /** The node that the object means now. */
  readonly node: Node;
  readonly former: FormerNode | undefined;
}

/**
 * Which NICs leave a node when the object is applied. Named is what its own spec has no more of the NICs that it delivered to
 * its node. Two are side effects of an edit that gives it another instance id (or, without one, another node name): what it leaves on its former node, as far as no
 * object that means that node now has it, and what another object delivered to the node that it means now. Undefined once an agent was sent for this: it is not asked
 * about twice.
 */
export function removalOf(
  input: RemovalInput,
  records: Pick<NodeRecords, 'others'>,
): Removal | undefined {
  return leftBehind(input) ?? displaced(input, records) ?? dropped(input);
}

/** What leaves the former node. */
function leftBehind({ config, former }: RemovalInput): Removal | undefined {
  if (!former) return undefined;
  const { node, heir } = former;
  const { name: nodeName } = node.metadata;
  const record = recordOf(config);
  // The clean-up has begun.
  if (!heir && record?.action === 'cleanup') return undefined;
  const macs = missing(deliveredMacs(config), heir && acceptSpec(heir));
  return loss({ basis: 'sideEffect', nodeName, macs, why: 'the object means another node now' });
}

/** An object that is being deleted and whose NICs on the node this one does not have: it is asked about by itself, first. */
export function leavingFirst(
  { config, spec, node }: Pick<RemovalInput, 'config' | 'spec' | 'node'>,
  records: Pick<NodeRecords, 'others'>,
): NodeConfig | undefined {
  return records
    .others(config, node.metadata.name)
    .filter((other) => other.metadata.deletionTimestamp !== undefined && isOn(other, node))
    .find((other) => missing(deliveredMacs(other), spec).length > 0);
}

/** What another object has on the node; of one that is being deleted see above. */
function displaced(
  { config, spec, node }: RemovalInput,
  records: Pick<NodeRecords, 'others'>,
): Removal | undefined {
  const { name: nodeName } = node.metadata;
  for (const other of records.others(config, nodeName)) {
    if (other.metadata.deletionTimestamp !== undefined || !isOn(other, node)) continue;
    const macs = missing(deliveredMacs(other), spec);
    const why = `${other.metadata.name} delivered them, and this object means the node now`;
    const found = loss({ basis: 'sideEffect', nodeName, macs, why });
    if (found) return found;
  }
  return undefined;
}

/** What the spec has no more. */
function dropped({ config, spec, node }: RemovalInput): Removal | undefined {
  const record = recordOf(config);
  if (!record || !isOn(config, node)) return undefined;
  if (record.action === 'apply' && record.content === contentHash(node, spec)) return undefined;
  const macs = missing(deliveredMacs(config), spec);
  const why = 'the spec has them no more';
  return loss({ basis: 'named', nodeName: node.metadata.name, macs, why });
}

/** A Node that registers anew is the same machine, unless it says that it is another one. */
export function isOn(config: NodeConfig, node: Node): boolean {
  const record = recordOf(config);
  if (record?.nodeName !== node.metadata.name) return false;
  const { machineID } = node.status?.nodeInfo ?? {};
  return !record.machineId || !machineID || record.machineId === machineID;
}

/** A spec that cannot be read removes nothing, and an entry that cannot be used neither. */
function missing(macs: readonly string[], spec: AcceptedSpec | undefined): readonly string[] {
  if (spec?.blocked !== undefined) return [];
  const stay = new Set([...(spec?.interfaces ?? []).map(({ mac }) => mac), ...(spec?.keep ?? [])]);
  return macs.filter((mac) => !stay.has(mac));
}

/** Whether an object that is let go for an heir takes NICs along that the heir does not have. */
export function losesToSuccessor(config: NodeConfig, heir: NodeConfig): boolean {
  return missing(deliveredMacs(config), acceptSpec(heir)).length > 0;
}

function loss(found: Removal): Removal | undefined {
  return found.macs.length === 0 ? undefined : found;
}
