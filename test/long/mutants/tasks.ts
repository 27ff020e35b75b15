import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commits, sampleOf } from '../../rotation.ts';
import { planted } from '../../scenarios/mutant.ts';
import { mutants as scenarioMutants } from '../../scenarios/mutants.ts';
import { root } from '../../scenarios/proofs.ts';
import { type Mutant, mutantsIn } from './operators.ts';
import { TestFiles } from './test-files.ts';
import type { Selection } from './verdict.ts';

/** Mutant, and the tests that should fail, in execution order. */
export interface Task {
  readonly mutant: Mutant;
  readonly batches: readonly Selection[];
}

/** Stand-ins for tests. */
const notProduct = /\.test\.ts$|\/testing\/|\/fake-[^/]*$/;

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Returns a sample of mutants for all source files below the folders. Files without unit tests have no mutants. */
export function generatedTasks(folders: readonly string[], count: number): Task[] {
  const tests = new TestFiles();
  const files = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !notProduct.test(file) && tests.of(file).length > 0)
    .filter((file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)))
    .toSorted();
  const mutants = files.flatMap((file) => mutantsIn(file, textOf(file)));
  console.log(`${mutants.length} mutants in ${files.length} files`);
  return sampleOf(mutants, count).map((mutant) => ({
    mutant,
    batches: tests.of(mutant.file).map((batch) => ({ project: 'unit', files: batch })),
  }));
}

/** Returns the mutants for field scenarios; the first mutant rotates with the commit. */
export function scenarioTasks(): Task[] {
  const tasks = Object.entries(scenarioMutants).map(([id, scenario]): Task => {
    const { file, find, replace, noticedBy } = scenario;
    const source = textOf(file);
    planted(source, scenario);
    const start = source.indexOf(find);
    const mutant = { file, operator: id, start, end: start + find.length, text: replace };
    const project = noticedBy.startsWith('test/host/') ? 'host' : 'unit';
    return { mutant, batches: [{ project, files: [noticedBy], pattern: `\\[${id}\\]` }] };
  });
  const first = commits() % tasks.length;
  return [...tasks.slice(first), ...tasks.slice(0, first)];
}
