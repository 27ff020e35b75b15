import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Parts per table at most: each case runs at least in every third landing. */
export type Parts = 2 | 3;

/** Whether this run skips nothing: set by `make test-long`. */
const isWhole = process.env['MULTINIC_TEST_DEPTH'] === 'all';

/**
 * Returns the cases of this run: every `parts`-th one, beginning with the number of commits modulo `parts`. Long suites get
 * all. Prints the others and lists them in `skipped.txt` of the test results.
 */
export function rotated<T>(
  table: string,
  cases: readonly T[],
  parts: Parts,
  nameOf: (one: T) => string,
): readonly T[] {
  if (isWhole) return cases;
  const part = commits() % parts;
  const skipped = cases.filter((_, at) => at % parts !== part).map(nameOf);
  say(`rotation: ${table}: part ${part + 1} of ${parts}, skipped: ${skipped.join(', ')}`);
  return cases.filter((_, at) => at % parts === part);
}

/** Returns vitest's `it` for tests in turn: registers every `parts`-th test, like `rotated`. */
export function inTurn<Rest extends readonly unknown[]>(
  table: string,
  parts: Parts,
  register: (title: string, ...rest: Rest) => void,
): (title: string, ...rest: Rest) => void {
  const part = commits() % parts;
  let tests = 0;
  return (title, ...rest) => {
    if (isWhole || tests++ % parts === part) register(title, ...rest);
    else say(`rotation: ${table}: part ${part + 1} of ${parts}, skipped: ${title}`);
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
  const results = process.env['MULTINIC_TEST_RESULTS'] ?? join(root, 'test-results');
  mkdirSync(results, { recursive: true });
  appendFileSync(join(results, 'skipped.txt'), `${line}\n`);
}

const golden = (Math.sqrt(5) - 1) / 2;

/**
 * Returns `count` of the items, spread evenly (also if only the first ones are used). Each commit takes the next points of one
 * low-discrepancy sequence, so that the samples of commits hardly overlap.
 */
export function sampleOf<T>(items: readonly T[], count: number, turn = commits()): readonly T[] {
  if (count >= items.length) return items;
  const points = Array.from({ length: count }, (_, n) => ((turn * count + n) * golden) % 1);
  return [...new Set(points.map((point) => items[Math.floor(point * items.length)] as T))];
}

/** Returns the number of commits, by which samples rotate. */
export function commits(): number {
  const count = execFileSync('git', ['rev-list', '--count', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  });
  return Number(count);
}
