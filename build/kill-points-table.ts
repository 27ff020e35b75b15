import { killPoints } from '../test/fixtures/crash/kill-points.ts';

const begin = '<!-- kill points: written by `npm run generate` -->';
const end = '<!-- end of kill points -->';

/** Returns a page with the table of kill points between two marks. Throws if a mark is missing. */
export function withKillPoints(page: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/faults.md lacks "${begin}" or "${end}"`);
  return `${page.slice(0, from + begin.length)}\n\n${table()}\n${page.slice(to)}`;
}

function table(): string {
  const counts = new Map<string, number>();
  for (const { part } of killPoints) counts.set(part, (counts.get(part) ?? 0) + 1);
  const rows = [...counts, ['all', killPoints.length]].map(([part, n]) => `| ${part} | ${n} |\n`);
  return `| part | kill points |\n| --- | --- |\n${rows.join('')}`;
}
