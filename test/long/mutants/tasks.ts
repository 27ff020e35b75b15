import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planted } from '../../scenarios/mutant.ts';
import { mutants as scenarioMutants } from '../../scenarios/mutants.ts';
import { root } from '../../scenarios/proofs.ts';
import { type Mutant, mutantsIn } from './operators.ts';
import { TestFiles } from './test-files.ts';
import type { Selection } from './verdict.ts';

/** A mutant and the tests that should notice it, in the order in which they run. */
export interface Task {
  readonly mutant: Mutant;
  readonly batches: readonly Selection[];
}

/** Stand-ins for tests. */
const notProduct = /\.test\.ts$|\/testing\/|\/fake-[^/]*$/;

const golden = (Math.sqrt(5) - 1) / 2;

/**
 * Returns `count` of the items, spread evenly (also if only the first ones are used). Each turn takes the next points of one
 * low-discrepancy sequence, so that turns hardly overlap.
 */
export function sampleOf<T>(items: readonly T[], count: number, turn: number): readonly T[] {
  if (count >= items.length) return items;
  const points = Array.from({ length: count }, (_, n) => ((turn * count + n) * golden) % 1);
  return [...new Set(points.map((point) => items[Math.floor(point * items.length)] as T))];
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Returns a sample of the mutants of all source files below the folders. Files that no unit test loads have none. */
export function generatedTasks(folders: readonly string[], count: number, turn: number): Task[] {
  const tests = new TestFiles();
  const files = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !notProduct.test(file) && tests.of(file).length > 0)
    .filter((file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)))
    .toSorted();
  const mutants = files.flatMap((file) => mutantsIn(file, textOf(file)));
  console.log(`${mutants.length} mutants in ${files.length} files`);
  return sampleOf(mutants, count, turn).map((mutant) => ({
    mutant,
    batches: tests.of(mutant.file).map((batch) => ({ project: 'unit', files: batch })),
  }));
}

/** Returns the mutants of the field scenarios; each turn begins with another one. */
export function scenarioTasks(turn: number): Task[] {
  const tasks = Object.entries(scenarioMutants).map(([id, scenario]): Task => {
    const { file, find, replace, noticedBy } = scenario;
    const source = textOf(file);
    planted(source, scenario);
    const start = source.indexOf(find);
    const mutant = { file, operator: id, start, end: start + find.length, text: replace };
    const project = noticedBy.startsWith('test/host/') ? 'host' : 'unit';
    return { mutant, batches: [{ project, files: [noticedBy], pattern: `\\[${id}\\]` }] };
  });
  const first = turn % tasks.length;
  return [...tasks.slice(first), ...tasks.slice(0, first)];
}
