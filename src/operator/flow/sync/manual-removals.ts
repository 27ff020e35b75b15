import { findCondition } from '../../../api/condition.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  generationOf,
  hasRemovalApproval,
  statusOf,
} from '../../model/openstack-config.ts';

/** Nodes that a user has cleaned in business clusters behind a legacy Viola, which removes nothing. */
interface ManualRemovals {
  /** Names of nodes without NICs from the OpenstackConfig. */
  readonly nodes: ReadonlySet<string>;
  /** Whether all nodes in former business clusters are clean. */
  readonly inFormerClusters: boolean;
}

const reported = 'RemovalUnsupported' satisfies OperatorReason;
const blocked = 'RemovalHeld' satisfies OperatorReason;

/**
 * Returns the nodes reported as cleaned by a new multinic.io/allow-removals value: nodes listed as
 * RemovalUnsupported in the previous status. Returns none if an earlier sync used the value for different
 * removals, or if the value releases blocked removals.
 */
export function manualRemovals(object: ConfigObject): ManualRemovals {
  const { nodes = [], observedGeneration, openAllowRemovals, conditions } = statusOf(object);
  const { value, nics } = openAllowRemovals ?? {};
  // Without counts only failed syncs have read the value.
  const isUsed = value === allowRemovalsOf(object) && nics !== undefined;
  const isForBlocked = findCondition(conditions, 'Delivered')?.reason === blocked;
  if (!hasRemovalApproval(object) || isUsed || isForBlocked)
    return { nodes: new Set(), inFormerClusters: false };
  const cleaned = nodes.flatMap(({ name = '', reason }) => (reason === reported ? name : []));
  return {
    nodes: new Set(cleaned),
    inFormerClusters: observedGeneration === generationOf(object),
  };
}
