import type { Node } from '../../kube/core-resources.ts';
import { recordOf } from '../jobs/applied.ts';
import type { Contents } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { NodeRecords } from '../records/node-records.ts';
import { isOn } from '../removals/known.ts';
import { lostNics } from '../removals/losses.ts';

type Records = Pick<NodeRecords, 'later' | 'others'>;

/**
 * True if a deleted object needs no clean-up: the node belongs to a different object, or a successor lists all NICs.
 * A successor's first run changes no unlisted NIC, and reports all NICs.
 */
export function mayLeaveAsIs(
  config: NodeConfig,
  node: Node,
  {
    successor,
    contents,
  }: { readonly successor?: NodeConfig | undefined; readonly contents: Contents },
  records: Records,
): boolean {
  return successor ? !lostNics(config, contents)?.length : isForeignNode(config, node, records);
}

/** True if the node has no NICs from this object: another object changed the node later, or this object never did. */
function isForeignNode(config: NodeConfig, node: Node, records: Records): boolean {
  const record = recordOf(config);
  if (config.status?.applied?.undone || (record && records.later(record))) return true;
  if (isOn(config, node)) return false;
  return records
    .others(config, node.metadata.name)
    .some((other) => other.metadata.deletionTimestamp === undefined && isOn(other, node));
}
