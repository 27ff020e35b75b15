import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { isSameJson } from '../api/same-json.ts';

/** What happened to one NIC between two states of its node. */
export interface Change {
  readonly change: 'added' | 'changed' | 'removed';
  /** As it is now, or was last. */
  readonly entry: InterfaceSpec;
  readonly before: InterfaceSpec | undefined;
  readonly after: InterfaceSpec | undefined;
}

/** The changes that turn one list of entries into the other; an entry is the same NIC while its port (or MAC) is. */
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
