/** A spreadsheet reads a value with such a start as a formula. */
const formulaStart = /^[=+\-@\t\r]/;

/** Returns rows as CSV (RFC 4180). Foreign names never become formulas. */
export function csvOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string): string {
  const safe = formulaStart.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
