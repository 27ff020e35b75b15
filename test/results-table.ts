import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

type Cell = string | number;

/** A Markdown file with a table of what came of long runs: a row for each title, with the commit that it is about. */
export interface ResultsTable {
  readonly path: string;
  /** What stands before the table. */
  readonly text: string;
  /** Names of the columns behind title and commit; the first cell is what titles are. */
  readonly head: readonly [string, ...string[]];
  /** All titles, in order. */
  readonly titles: readonly string[];
}

/** Of what is tried from now on: a run takes long enough for another one to come. */
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

function tableLine(cells: readonly Cell[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Puts a row in place of the one of an earlier run, and returns it; those of other titles stay. Samples change no file. */
export function putRow(table: ResultsTable, title: string, cells: readonly Cell[]): string {
  const { path, text, head, titles } = table;
  const former = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const row = tableLine([title, commit, ...cells]);
  if (process.env['MULTINIC_TEST_SAMPLE']) return row;
  const rows = titles.flatMap((each) =>
    each === title ? [row] : (former.find((line) => line.startsWith(`| ${each} |`)) ?? []),
  );
  const [what, ...more] = head;
  const columns = [what, 'commit', ...more];
  const lines = [tableLine(columns), tableLine(columns.map(() => '---')), ...rows];
  writeFileSync(path, `${text}\n${lines.join('\n')}\n`);
  return row;
}
