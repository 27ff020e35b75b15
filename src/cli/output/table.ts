import { displayWidth, padEnd, printable } from './width.ts';

/** Column of a table. */
export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => string;
  /** Only with `-o wide`. */
  readonly wide?: boolean;
}

export interface TableOptions {
  readonly wide: boolean;
  readonly headers: boolean;
}

/** Formats rows in columns, aligned by display width. An empty cell of the last columns leaves no spaces. */
export function formatTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  { wide, headers }: TableOptions,
): string {
  const shown = columns.filter((column) => wide || column.wide !== true);
  const cells = rows.map((row) => shown.map(({ cell }) => printable(cell(row))));
  return aligned(headers ? [shown.map(({ title }) => title), ...cells] : cells);
}

/** Aligns lines of cells by display width. */
export function aligned(lines: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [at, cell] of line.entries()) {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(cell));
    }
  }
  const text = (line: readonly string[]) =>
    line
      .map((cell, at) => (at === line.length - 1 ? cell : padEnd(cell, widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return lines.map(text).join('\n');
}
