import type { BizInterface } from '../api/multinicbizconfig.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { indexOfName, maxIndex } from '../api/names.ts';

/** The index-related part in a node's MultiNicNodeConfig. */
export interface IndexHolder {
  readonly spec?: { readonly interfaces?: readonly unknown[] | undefined } | undefined;
  readonly status?: NodeConfigStatus | undefined;
}

interface Named {
  readonly index: number;
  readonly portId: string | undefined;
  readonly mac: string | undefined;
}

/**
 * Returns each NIC's index, in entry order; undefined: all ten indexes are in use until a removed NIC is gone. A port
 * (without port id: a MAC) keeps its index. New NICs get the lowest index unused in spec, interface statuses and host
 * record. No two NICs share an index: the spec wins over statuses from an earlier spec.
 */
export function indexesFor(
  interfaces: readonly BizInterface[],
  holder: IndexHolder | undefined,
): readonly (number | undefined)[] {
  const records = holder ? recordsIn(holder) : [];
  const assigned: (number | undefined)[] = interfaces.map(() => undefined);
  const taken = new Set<number>();
  for (const record of records) {
    for (const [at, nic] of interfaces.entries()) {
      const index = record.find((one) => isSame(one, nic))?.index;
      if (assigned[at] !== undefined || index === undefined || taken.has(index)) continue;
      assigned[at] = index;
      taken.add(index);
    }
    for (const { index } of record) taken.add(index);
  }
  return assigned.map((index) => {
    if (index !== undefined) return index;
    const free = Array.from({ length: maxIndex + 1 }, (_, n) => n).find((n) => !taken.has(n));
    if (free !== undefined) taken.add(free);
    return free;
  });
}

/** Returns all index sources, most reliable first: the spec is the desired state, the rest is history. */
function recordsIn({ spec, status }: IndexHolder): readonly (readonly Named[])[] {
  return [spec?.interfaces, status?.knownInterfaces, status?.interfaceStatuses].map((entries) =>
    (entries ?? []).flatMap((entry: unknown) => namedIn(entry)),
  );
}

interface EntryLike {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly portId?: unknown;
  readonly macAddress?: unknown;
}

function namedIn(entry: unknown): Named[] {
  if (entry === null || typeof entry !== 'object') return [];
  const { id, name, portId, macAddress } = entry as EntryLike;
  const byName = typeof name === 'string' ? indexOfName(name) : undefined;
  const index = byName ?? (typeof id === 'number' ? id : undefined);
  if (index === undefined || index > maxIndex) return [];
  return [{ index, portId: textOf(portId), mac: textOf(macAddress)?.toLowerCase() }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Compares by port id; by MAC if either side has no port id. */
function isSame(named: Named, { portId, macAddress }: BizInterface): boolean {
  if (named.portId !== undefined && portId) return named.portId === portId;
  return named.mac !== undefined && named.mac === macAddress?.trim().toLowerCase();
}
