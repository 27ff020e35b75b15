import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { isSameJson } from '../api/same-json.ts';

/** A change in one NIC between two states of the node. */
export interface Change {
  readonly change: 'added' | 'changed' | 'removed';
  /** The current entry; for `removed` the last one. */
  readonly entry: InterfaceSpec;
  readonly before: InterfaceSpec | undefined;
  readonly after: InterfaceSpec | undefined;
}

/** Returns the changes between two entry lists. Two entries are the same NIC when port id (or MAC) is equal. */
export function changesBetween(
  before: readonly InterfaceSpec[],
  after: readonly InterfaceSpec[],
): Change[] {
  const old = new Map(before.map((entry) => [identityOf(entry), entry]));
  const now = new Map(after.map((entry) => [identityOf(entry), entry]));
  const changes: Change[] = [];
  for (const [identity, entry] of old) {
    const other = now.get(identity);
    if (!other) changes.push({ change: 'removed', entry, before: entry, after: undefined });
    else if (!isSameJson(other, entry)) {
      changes.push({ change: 'changed', entry: other, before: entry, after: other });
    }
  }
  for (const [identity, entry] of now) {
    if (!old.has(identity))
      changes.push({ change: 'added', entry, before: undefined, after: entry });
  }
  return changes;
}

function identityOf({ portId, macAddress }: InterfaceSpec): string {
  return portId ? `port ${portId}` : `mac ${macAddress.toLowerCase()}`;
}
