import * as z from 'zod';
import { rfc3339 } from '../../api/condition.ts';
import { budgetWindowMs } from '../../api/removals.ts';
import type { ConfigObject } from '../model/openstack-config.ts';

/** Removals in the budget with the time when sent, as stored in `status.removals`. */
export interface RemovalRecord {
  /** RFC 3339. */
  readonly at: string;
  readonly nics: number;
  readonly nodes: number;
}

const removalRecords = z.array(
  z.object({
    at: z.iso.datetime({ offset: true }),
    nics: z.int().min(0),
    nodes: z.int().min(0),
  }),
);

/** The status holds at most this many records. */
const mostRecords = 20;

/** Returns an OpenstackConfig's records; undefined: the status cannot be read. */
export function recordsOf({ status }: Pick<ConfigObject, 'status'>): RemovalRecord[] | undefined {
  const removals = (status as { readonly removals?: unknown } | undefined)?.removals;
  return removalRecords.safeParse(removals ?? []).data;
}

/** Returns the records of the last hour, oldest first; a time after `now` counts as `now`. */
export function recordsWithin(records: readonly RemovalRecord[], now: Date): RemovalRecord[] {
  return records
    .map((record) =>
      Date.parse(record.at) > now.getTime() ? { ...record, at: rfc3339(now) } : record,
    )
    .filter(({ at }) => now.getTime() - Date.parse(at) < budgetWindowMs)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Adds removals to the records of the last hour. Above the limit the two oldest merge, with the later time. */
export function withRecord(
  records: readonly RemovalRecord[],
  { nics, nodes }: Pick<RemovalRecord, 'nics' | 'nodes'>,
  now: Date,
): RemovalRecord[] {
  const all = [...recordsWithin(records, now), { at: rfc3339(now), nics, nodes }];
  while (all.length > mostRecords) {
    const [first, second, ...rest] = all;
    if (!first || !second) break;
    const merged = {
      at: second.at,
      nics: first.nics + second.nics,
      nodes: first.nodes + second.nodes,
    };
    all.splice(0, all.length, merged, ...rest);
  }
  return all;
}

/** Returns sums. */
export function sumOf(
  records: readonly Pick<RemovalRecord, 'nics' | 'nodes'>[],
): Pick<RemovalRecord, 'nics' | 'nodes'> {
  return {
    nics: records.reduce((sum, { nics }) => sum + nics, 0),
    nodes: records.reduce((sum, { nodes }) => sum + nodes, 0),
  };
}
