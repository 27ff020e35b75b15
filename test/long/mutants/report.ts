import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../scenarios/proofs.ts';
import { placeOf } from './operators.ts';
import type { Task } from './tasks.ts';
import type { Verdict } from './verdict.ts';

export interface Result {
  readonly task: Task;
  readonly verdict: Verdict;
  readonly seconds: number;
}

const kinds = ['killed', 'survived', 'unstable'] as const;

function rowOf({ task: { mutant }, verdict, seconds }: Result): string[] {
  const place = placeOf(readFileSync(join(root, mutant.file), 'utf8'), mutant);
  const by = 'by' in verdict ? verdict.by : '';
  return [verdict.kind, mutant.operator, ...place, `${seconds}`, by];
}

/** Returns a line for the terminal. */
export function lineOf(result: Result): string {
  const [kind = '', operator = '', place = '', , , seconds = '', by = ''] = rowOf(result);
  return `${kind.padEnd(9)} ${operator.padEnd(19)} ${place}  ${seconds} s  ${by}`.trimEnd();
}

/** Returns the numbers of each folder, then every mutant without a killer as a diff. */
export function summaryOf(results: readonly Result[]): string {
  const folders = Map.groupBy(results, ({ task }) => dirname(task.mutant.file));
  const line = (name: string, of: readonly Result[]) => {
    const counts = kinds.map((kind) => of.filter(({ verdict }) => verdict.kind === kind).length);
    return [name.padEnd(32), ...counts.map((count) => `${count}`.padStart(8))].join(' ');
  };
  const open = results.filter(({ verdict }) => verdict.kind !== 'killed');
  return [
    '',
    ['folder'.padEnd(32), ...kinds.map((kind) => kind.padStart(8))].join(' '),
    ...[...folders.keys()].toSorted().map((name) => line(name, folders.get(name) ?? [])),
    line('all', results),
    ...open
      .map(rowOf)
      .map(([kind, operator, place, before, after, , by]) =>
        ['', `${place} ${kind}, ${operator} ${by}`.trimEnd(), `  - ${before}`, `  + ${after}`].join(
          '\n',
        ),
      ),
  ].join('\n');
}

/** Writes `NAME.tsv` into the test results. */
export function writeTable(name: string, results: readonly Result[]): void {
  const folder = process.env['MULTINIC_TEST_RESULTS'] ?? join(root, 'test-results');
  const head = ['verdict', 'operator', 'place', 'before', 'after', 'seconds', 'by'];
  mkdirSync(folder, { recursive: true });
  const lines = [head, ...results.map(rowOf)].map((cells) =>
    cells.map((cell) => cell.replaceAll(/\s+/g, ' ')).join('\t'),
  );
  writeFileSync(join(folder, `${name}.tsv`), `${lines.join('\n')}\n`);
}
