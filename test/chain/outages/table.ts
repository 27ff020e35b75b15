import type { Report } from './outage.ts';

const columns = [
  'what',
  'form',
  'attempts',
  'removals',
  'others served (ms)',
  'delivered',
  'as after a clean run (s)',
];

/** Prints what became of the outages, one line each. */
export function printTable(title: string, reports: readonly Report[]): void {
  const rows = [columns, ...reports.map(cellsOf)];
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  process.stdout.write(`\n${title}, a minute each, all at once\n${lines.join('\n')}\n`);
}

function cellsOf({ what, form, attempts, losses, othersMs, delivered, caughtUpMs }: Report) {
  const paces = othersMs.toSorted((a, b) => a - b).map(Math.round);
  return [
    what,
    form,
    attempts.join(' + '),
    String(losses.length),
    `${paces.length} in ${paces[0]}..${paces.at(-1)}`,
    delivered,
    (caughtUpMs / 1000).toFixed(1),
  ];
}
