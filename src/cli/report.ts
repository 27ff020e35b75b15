/** A failed read: its subject counts as unknown, never as good. */
export interface Skipped {
  readonly what: string;
  readonly why: string;
  /** How the user supplies it; absent: unknown. */
  readonly next?: string;
}

/** A required source without an answer. */
export interface Incomplete {
  readonly source: string;
  /** URL, kubeconfig path, context, business cluster or OpenstackConfig. */
  readonly place: string;
  readonly why: string;
  /** How the user gets the answer; empty: unknown. */
  readonly next: readonly string[];
}

/** Command output for `-o json`; `v1` only gains fields. */
export interface Report {
  readonly kind: string;
  readonly items: readonly object[];
  /** Items needing attention. */
  readonly findings: readonly object[];
  readonly skipped: readonly Skipped[];
  /** Required sources without an answer; default: none. */
  readonly incomplete?: readonly Incomplete[];
}

export function reportObject(report: Report): object {
  const { kind, items, findings, skipped, incomplete = [] } = report;
  return { apiVersion: 'report.multinic.io/v1', kind, items, findings, skipped, incomplete };
}

/** Formats rows in aligned columns; the last column is not padded. */
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
