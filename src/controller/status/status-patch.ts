import { appliedRecord } from '../../api/applied-record.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { NodeConfig } from '../objects/stores.ts';

/**
 * Returns the merge patch to the new status from any stored form, including the legacy controller's; undefined: no
 * change.
 */
export function statusPatch(config: NodeConfig, next: NodeConfigStatus): unknown {
  const dropped = config.statusKeys.filter((key) => !(key in next));
  const same = isSameJson(config.status, comparable(config, next));
  if (same && dropped.length === 0) return undefined;
  return {
    // A write by another client meanwhile makes this a conflict.
    metadata: { resourceVersion: config.metadata.resourceVersion },
    status: {
      ...without(dropped),
      ...next,
      // A merge patch keeps unnamed keys, so stale keys are removed explicitly, in nested objects too.
      ...(next.applied
        ? { applied: { ...without(recordKeys), ...recordPatch(config, next) } }
        : {}),
      ...(next.heldRemovals
        ? { heldRemovals: replacing(config.status?.heldRemovals, next.heldRemovals) }
        : {}),
    },
  };
}

/**
 * A missing summary alone causes no write: an upgrade would write every object at once, and an older CRD would drop the
 * summary again.
 */
function comparable({ status }: NodeConfig, next: NodeConfigStatus): NodeConfigStatus {
  if (status?.summary !== undefined) return next;
  const { summary: _, ...rest } = next;
  return rest;
}

function recordPatch({ status }: NodeConfig, { applied }: NodeConfigStatus) {
  const { basis, shared, nics } = applied ?? {};
  const stored = status?.applied;
  return {
    ...applied,
    ...(basis ? { basis: replacing(stored?.basis, basis) } : {}),
    ...(shared ? { shared: replacing(stored?.shared, shared) } : {}),
    ...(nics ? { nics: replacing(stored?.nics, nics) } : {}),
  };
}

/** Returns a merge patch for a nested object that removes keys of the stored one. */
function replacing(stored: object | undefined, next: object) {
  return { ...without(Object.keys(stored ?? {})), ...next };
}

const recordKeys = Object.keys(appliedRecord.shape);

function without(keys: readonly string[]): Record<string, null> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}
