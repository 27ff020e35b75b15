import type { UnreadSource } from '../../explain/conclusion.ts';
import type { Session } from '../../session/access/session.ts';
import { sourcesInContext, textInContext } from '../../session/in-context.ts';
import type { CommonOptions } from '../options.ts';
import { incompleteLines, incompleteObjects } from './incomplete.ts';
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

export interface ListRead<T> {
  readonly rows: readonly T[];
  /** Reads required sources without an answer behind the rows; absent: none. */
  readonly unread?: () => Promise<readonly UnreadSource[]>;
}

/** Prints a list; with --watch again each changed row. Returns required sources without an answer at the first read. */
export async function printList<T>(
  { session }: { readonly session: Pick<Session, 'clock' | 'signal'> },
  list: List<T>,
  options: ListOptions,
  read: () => Promise<ListRead<T>>,
): Promise<readonly UnreadSource[]> {
  const { rows, unread: readUnread } = await read();
  const unread = sourcesInContext((await readUnread?.()) ?? [], options);
  show(list, { rows, unread }, options);
  const textOf = (row: T) => JSON.stringify(list.object(row));
  // Only the latest read counts: a row that becomes as it was before has changed, too.
  let latest = new Set(rows.map(textOf));
  while (options.watch === true) {
    await session.clock.sleep(watchMs, session.signal);
    const { rows: current } = await read();
    const changed = current.filter((row) => !latest.has(textOf(row)));
    latest = new Set(current.map(textOf));
    if (changed.length > 0)
      show(list, { rows: changed, unread: [] }, { ...options, headers: false });
  }
  return unread;
}

interface Shown<T> {
  readonly rows: readonly T[];
  readonly unread: readonly UnreadSource[];
}

function show<T>(list: List<T>, { rows, unread }: Shown<T>, options: CommonOptions): void {
  const { output, headers, lang } = options;
  if (output === 'json' || output === 'yaml') {
    const items = rows.map((row) => list.object(row));
    const incomplete = incompleteObjects(unread, lang);
    print(reportText({ kind: list.kind, items, findings: [], skipped: [], incomplete }, output));
    return;
  }
  // Standard output has rows only.
  for (const line of incompleteLines(unread, lang)) console.error(line);
  if (output === 'name') {
    if (rows.length > 0) print(rows.map((row) => printable(list.name(row))).join('\n'));
  } else if (rows.length === 0) {
    console.error(textInContext(list.empty, options));
  } else {
    print(formatTable(list.columns, rows, { wide: output === 'wide', headers }));
  }
}
