import {
  historyPath,
  type InventoryChange,
  inventoryChanges,
  oldestHeader,
} from '../../api/inventory-http.ts';
import { continueHeader } from '../../api/node-configs-http.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { type Fact, mapFact } from '../../explain/fact.ts';
import type { Formerly } from '../../explain/facts.ts';
import type { Session } from '../access/session.ts';
import { aboutOperator } from './operator-facts.ts';
import { factOf } from './unread.ts';

/** Search in the NIC history. */
export interface HistorySearch {
  /** Filters of the API. */
  readonly query: Readonly<
    Partial<Record<'providerId' | 'nodeName' | 'portId' | 'since', string | undefined>>
  >;
  /** Filter in the command, for fields without API filter. */
  readonly matches: (change: InventoryChange) => boolean;
  readonly limit: number;
  /** Token of the page before; absent: from the newest change. */
  readonly token?: string | undefined;
}

export interface History {
  /** Matching changes, newest first. */
  readonly changes: readonly InventoryChange[];
  /** Oldest change within reach (RFC 3339); undefined: an empty history, or an operator from an earlier release. */
  readonly oldest: string | undefined;
  /** Token for the changes after the last read page; undefined: all changes were read. */
  readonly next?: string | undefined;
}

export function hasMac(mac: string): HistorySearch['matches'] {
  return ({ macAddress }) => macAddress.toLowerCase() === mac;
}

export function hasAddress(address: string): HistorySearch['matches'] {
  return (change) => addressesIn(change).some((each) => each.split('/')[0] === address);
}

/** Returns the fields with different values before and after a change, as text; empty: a NIC was added or removed. */
export function changedFields({ before, after }: InventoryChange): ChangedField[] {
  if (!before || !after) return [];
  const [from, to]: Record<string, unknown>[] = [before, after];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .map((name) => ({ name, before: textOf(from?.[name]), after: textOf(to?.[name]) }))
    .filter((field) => field.before !== field.after);
}

interface ChangedField {
  readonly name: string;
  /** JSON or text; -: absent. */
  readonly before: string;
  readonly after: string;
}

function textOf(value: unknown): string {
  if (value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the addresses before and after a change. */
export function addressesIn({ before, after }: InventoryChange): string[] {
  const found = [after, before].flatMap((entry) => [
    ...(entry?.addresses ?? []),
    ...(entry?.address === undefined ? [] : [entry.address]),
  ]);
  return [...new Set(found)];
}

/** Reads whether the last change removed the NIC. */
export async function readFormerly(
  session: Session,
  search: Pick<HistorySearch, 'query' | 'matches'>,
): Promise<Fact<Formerly>> {
  const history = await readHistory(session, { ...search, limit: 1 });
  return mapFact(history, ({ changes: [latest], oldest }) => ({
    removal: latest?.change === 'removed' ? latest : undefined,
    oldest,
  }));
}

const pageSize = 200;
/** Limit for filters in the command: 10,000 changes. */
const mostPages = 50;

/** Reads the newest matching changes. */
export function readHistory(
  session: Session,
  { query, matches, limit, token: start }: HistorySearch,
): Promise<Fact<History>> {
  return factOf(session, aboutOperator(session, accessTexts.history), async () => {
    const api = await session.operator();
    const changes: InventoryChange[] = [];
    let token = start;
    let [oldest, pages]: [string | undefined, number] = [undefined, 0];
    do {
      const page = { ...query, limit: pageSize, continue: token };
      const { body, headers } = await api.getWithHeaders(historyPath, inventoryChanges, page);
      changes.push(...body.filter(matches));
      token = headers[continueHeader];
      pages += 1;
      oldest = pages === mostPages && token !== undefined ? body.at(-1)?.at : headers[oldestHeader];
    } while (token !== undefined && changes.length < limit && pages < mostPages);
    return { changes, oldest, next: token };
  });
}
