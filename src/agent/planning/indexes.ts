import type { RequestInterface } from '../../api/job.ts';
import { maxIndex } from '../../api/names.ts';
import type { NicRecord } from '../state.ts';

/**
 * Index, and so name, table and priority, of each entry's NIC, by MAC. A NIC that has one keeps it whatever the request
 * says: callers that number by MAC order would otherwise rename live NICs whenever a port comes or goes. The others get
 * what they ask for, or the lowest that is free; none when all ten are taken.
 */
export function assignIndexes(
  entries: readonly RequestInterface[],
  records: ReadonlyMap<string, NicRecord>,
  occupied: readonly number[],
): Map<string, number> {
  const taken = new Set(occupied);
  const assigned = new Map<string, number>();
  const assign = (mac: string, index: number | undefined): void => {
    if (index === undefined || taken.has(index) || assigned.has(mac)) return;
    taken.add(index);
    assigned.set(mac, index);
  };
  for (const { mac } of entries) assign(mac, records.get(mac)?.index);
  for (const { mac, index } of entries) assign(mac, index);
  for (const { mac } of entries) {
    assign(
      mac,
      Array.from({ length: maxIndex + 1 }, (_, index) => index).find((index) => !taken.has(index)),
    );
  }
  return assigned;
}
