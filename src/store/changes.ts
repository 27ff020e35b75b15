import type { InventoryChange } from '../api/inventory-http.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { isSameJson } from '../api/same-json.ts';

/** A change in one NIC between two states of the node. */
export interface Change {
  readonly change: InventoryChange['change'];
  /** The current entry; for `removed` the last one. */
  readonly entry: InterfaceSpec;
  readonly before: InterfaceSpec | undefined;
  readonly after: InterfaceSpec | undefined;
}

/**
 * Returns the changes between two entry lists. Two entries are the same NIC when the port id is equal, else when the MAC
 * is equal: a port made again with the MAC takes the NIC over.
 */
export function changesBetween(
  before: readonly InterfaceSpec[],
  after: readonly InterfaceSpec[],
): Change[] {
  const ports = new Map(after.map((entry) => [portOf(entry), entry]));
  const pairs = new Map(before.map((entry) => [entry, entry.portId && ports.get(portOf(entry))]));
  const paired = new Set(pairs.values());
  const macs = new Map(
    after.flatMap((entry) => (paired.has(entry) ? [] : [[macOf(entry), entry] as const])),
  );
  const gone = before.flatMap((entry): Change[] => {
    const next = pairs.get(entry) || macs.get(macOf(entry));
    if (!next) return [{ change: 'removed', entry, before: entry, after: undefined }];
    paired.add(next);
    if (isSameJson(next, entry)) return [];
    return [{ change: kindOf(entry, next), entry: next, before: entry, after: next }];
  });
  const added = after
    .filter((entry) => !paired.has(entry))
    .map((entry): Change => ({ change: 'added', entry, before: undefined, after: entry }));
  return [...gone, ...added];
}

/** Entries without port id, as in legacy objects, belong to the same port. */
function kindOf(before: InterfaceSpec, after: InterfaceSpec): 'changed' | 'port-replaced' {
  const isOther = before.portId && after.portId && portOf(before) !== portOf(after);
  return isOther ? 'port-replaced' : 'changed';
}

function portOf({ portId }: InterfaceSpec): string {
  return portId?.toLowerCase() ?? '';
}

function macOf({ macAddress }: InterfaceSpec): string {
  return macAddress.toLowerCase();
}
