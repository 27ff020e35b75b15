import { type Fact, missingText } from '../../explain/fact.ts';
import type { Session } from '../access/session.ts';
import { Unread } from '../access/unread.ts';
import type { CommonOptions } from '../options.ts';
import { print, reportText } from './print.ts';
import { type Column, formatTable } from './table.ts';
import { printable } from './width.ts';

/** A list command: rows with columns, a name per row, and the JSON form. */
export interface List<T> {
  readonly kind: string;
  readonly columns: readonly Column<T>[];
  readonly name: (row: T) => string;
  readonly object: (row: T) => object;
  /** Shown on standard error instead of an empty table. */
  readonly empty: string;
}

export interface ListOptions extends CommonOptions {
  readonly watch?: boolean;
}

/** Interval between reads with --watch (ms). */
const watchMs = 5_000;

/** Prints a list; with --watch again each changed row. */
export async function printList<T>(
  { session }: { readonly session: Pick<Session, 'clock' | 'signal'> },
  list: List<T>,
  options: ListOptions,
  read: () => Promise<readonly T[]>,
): Promise<void> {
  const rows = await read();
  show(list, rows, options);
  const textOf = (row: T) => JSON.stringify(list.object(row));
  // Only the latest read counts: a row that becomes as it was before has changed, too.
  let latest = new Set(rows.map(textOf));
  while (options.watch === true) {
    await session.clock.sleep(watchMs, session.signal);
    const current = await read();
    const changed = current.filter((row) => !latest.has(textOf(row)));
    latest = new Set(current.map(textOf));
    if (changed.length > 0) show(list, changed, { ...options, headers: false });
  }
}

function show<T>(list: List<T>, rows: readonly T[], { output, headers }: CommonOptions): void {
  if (output === 'json' || output === 'yaml') {
    const items = rows.map((row) => list.object(row));
    print(reportText({ kind: list.kind, items, findings: [], skipped: [] }, output));
  } else if (output === 'name') {
    if (rows.length > 0) print(rows.map((row) => printable(list.name(row))).join('\n'));
  } else if (rows.length === 0) {
    console.error(list.empty);
  } else {
    print(formatTable(list.columns, rows, { wide: output === 'wide', headers }));
  }
}

/** Returns a fact's value. Throws Unread: a command without this fact has nothing to show. */
export function required<T>(fact: Fact<T>): T {
  if (fact.state === 'read') return fact.value;
  throw new Unread(missingText(fact), fact.next);
}
