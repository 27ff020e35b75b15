/** A read that failed: its subject counts as unknown, never as good. */
export interface Skipped {
  readonly what: string;
  readonly why: string;
}

/** Output of a command with `-o json`; within `v1` fields are only added. */
export interface Report {
  readonly kind: string;
  readonly items: readonly object[];
  /** Items that need attention. */
  readonly findings: readonly object[];
  readonly skipped: readonly Skipped[];
}

export function reportJson({ kind, items, findings, skipped }: Report): string {
  const report = { apiVersion: 'report.multinic.io/v1', kind, items, findings, skipped };
  return JSON.stringify(report, undefined, 2);
}

/** Rows in columns that are as wide as their widest cell; the last column is not padded. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
