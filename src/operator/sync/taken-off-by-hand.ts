import { findCondition } from '../../api/condition.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  generationOf,
  hasLeaveToRemove,
  statusOf,
} from '../openstack-config.ts';

/** What a user has removed in business clusters behind a legacy Viola, which removes nothing. */
interface TakenOffByHand {
  /** Names of nodes without NICs of the OpenstackConfig. */
  readonly nodes: ReadonlySet<string>;
  /** All nodes in business clusters that the OpenstackConfig no longer names. */
  readonly elsewhere: boolean;
}

const reported = 'RemovalUnsupported' satisfies OperatorReason;
const held = 'RemovalHeld' satisfies OperatorReason;

/**
 * Returns the nodes that a new value of multinic.io/allow-removals reports as cleaned: those that the status named before as
 * RemovalUnsupported. A value that an earlier sync used for other removals, or that releases held ones, reports none.
 */
export function takenOffByHand(object: ConfigObject): TakenOffByHand {
  const { nodes = [], observedGeneration, openAllowRemovals, conditions } = statusOf(object);
  const isUsed = openAllowRemovals?.value === allowRemovalsOf(object);
  const isOfHeld = findCondition(conditions, 'Delivered')?.reason === held;
  if (!hasLeaveToRemove(object) || isUsed || isOfHeld)
    return { nodes: new Set(), elsewhere: false };
  const cleaned = nodes.flatMap(({ name = '', reason }) => (reason === reported ? name : []));
  return {
    nodes: new Set(cleaned),
    elsewhere: observedGeneration === generationOf(object),
  };
}
