import type { KnownNics } from '../../api/known-nics.ts';
import type { Node } from '../../kube/core-resources.ts';
import { type AcceptedSpec, acceptSpec, type Contents } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { NodeRecords } from '../records/node-records.ts';
import { isOn, knownOf, ownMacs } from './known.ts';

/** NIC leaving a node with a run. */
export interface LostNic {
  readonly mac: string;
  /** True if requested by a run for this object; false for NICs from a different object or uid. */
  readonly isOwn: boolean;
}

/**
 * Returns the known NICs removed by a run with these contents, for any reason: an edit, a deletion, a different node, a
 * restore. Undefined: unread.
 */
export function lostNics(
  config: NodeConfig,
  contents: Contents,
  known: KnownNics = knownOf(config),
): readonly LostNic[] | undefined {
  if (known.kind === 'unread') return undefined;
  const stay = listedMacs(contents);
  const lost = known.nics.filter(({ mac }) => !stay.has(mac));
  if (lost.length === 0) return [];
  const own = ownMacs(config);
  return lost.map(({ mac }) => ({ mac, isOwn: own.has(mac) }));
}

/** Returns the NICs that a run with these contents keeps on the node. */
export function listedMacs({ interfaces, keep }: Contents): ReadonlySet<string> {
  return new Set([...interfaces.map(({ mac }) => mac), ...keep]);
}

/** Returns the NICs staying on a deleted object's node: listed by its successor, or all with an unusable spec. */
export function staysFor(successor: NodeConfig | undefined, config: NodeConfig): Contents {
  if (!successor) return { interfaces: [], keep: [] };
  const spec = acceptSpec(successor);
  return { interfaces: [], keep: macsKept(spec, config) };
}

function macsKept({ blocked, ...contents }: AcceptedSpec, config: NodeConfig): string[] {
  const known = knownOf(config);
  const onNode = known.kind === 'read' ? known.nics.map(({ mac }) => mac) : [];
  const listed = listedMacs(contents);
  return onNode.filter((mac) => blocked !== undefined || listed.has(mac)).toSorted();
}

/** Returns an object in deletion with NICs on the node missing in the spec: these NICs are removed first. */
export function leavingFirst(
  {
    config,
    spec,
    node,
  }: {
    readonly config: NodeConfig;
    readonly spec: AcceptedSpec;
    readonly node: Node;
  },
  records: Pick<NodeRecords, 'others'>,
): NodeConfig | undefined {
  return records
    .others(config, node.metadata.name)
    .filter((other) => other.metadata.deletionTimestamp !== undefined && isOn(other, node))
    .find((other) => (lostNics(other, spec) ?? []).length > 0);
}
