import type { BizInterface } from '../api/multinicbizconfig.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { indexOfName, maxIndex } from '../api/names.ts';

/** The MultiNicNodeConfig of a node, as far as it decides about indexes. */
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
 * Index of each NIC, in the order of the entries; undefined: all ten are in use until a NIC that leaves is gone. A port (without
 * port id: a MAC) keeps its index. A new one gets the lowest index that neither spec, interface statuses nor the host's own
 * record name. No two NICs get one index: what the spec says counts before what the statuses say of an earlier one.
 */
export function indexesFor(
  interfaces: readonly BizInterface[],
  holder: IndexHolder | undefined,
): readonly (number | undefined)[] {
  const records = holder ? recordsIn(holder) : [];
  const kept: (number | undefined)[] = interfaces.map(() => undefined);
  const taken = new Set<number>();
  for (const record of records) {
    for (const [at, nic] of interfaces.entries()) {
      const index = record.find((one) => isSame(one, nic))?.index;
      if (kept[at] !== undefined || index === undefined || taken.has(index)) continue;
      kept[at] = index;
      taken.add(index);
    }
    for (const { index } of record) taken.add(index);
  }
  return kept.map((index) => {
    if (index !== undefined) return index;
    const free = Array.from({ length: maxIndex + 1 }, (_, n) => n).find((n) => !taken.has(n));
    if (free !== undefined) taken.add(free);
    return free;
  });
}

/** What names indexes, most reliable first: the spec is wanted, the others are what was. */
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

/** By port; by MAC where one of the two has no port id. */
function isSame(named: Named, { portId, macAddress }: BizInterface): boolean {
  if (named.portId !== undefined && portId) return named.portId === portId;
  return named.mac !== undefined && named.mac === macAddress?.trim().toLowerCase();
}
