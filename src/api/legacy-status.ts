import type { NodeConfigStatus } from './multinicnodeconfig.ts';

/** Condition added to a status while yielding to the legacy controller; the rest stays unchanged. */
export const otherControllerActive = 'OtherControllerActive';

/**
 * True if the legacy controller wrote this status. On start the legacy controller inspects every node and writes fields
 * that ours never writes: nodeReady and lastInterfaceCheck. Later it writes `state` and replaces all conditions by a
 * single condition without a time. A condition added by a user, to our status or to an empty status, is no evidence.
 */
export function isWrittenByLegacy(status: NodeConfigStatus): boolean {
  const { conditions = [], state, nodeReady, lastInterfaceCheck } = status;
  if (nodeReady !== undefined || lastInterfaceCheck !== undefined) return true;
  const others = conditions.filter(({ type }) => type !== otherControllerActive);
  const isTimed = others.some(({ lastTransitionTime }) => lastTransitionTime !== undefined);
  return state !== undefined && others.length > 0 && !isTimed;
}
