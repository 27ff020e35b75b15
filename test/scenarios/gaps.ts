import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import type { Mutant } from '../mutate/mutant.ts';
import { namePattern, type Proof, partsOf, type Scenario } from './scenario.ts';

const root = join(import.meta.dirname, '..', '..');
/** So many are known from the field. */
const total = 88;

export interface Ground {
  /** Mutants by the id of the scenario that they bring back. */
  readonly mutants: Readonly<Record<string, Mutant>>;
  /** Globs of the test files that run before anything lands. */
  readonly included: readonly string[];
  /** Text of a file of the tree; undefined when there is none. */
  readonly textOf: (path: string) => string | undefined;
}

/** Text of a file of this tree. */
export function textOf(path: string): string | undefined {
  const whole = join(root, path);
  return existsSync(whole) ? readFileSync(whole, 'utf8') : undefined;
}

/** What is missing of the table: each line is a reason for which it proves less than it says. */
export function gapsIn(scenarios: readonly Scenario[], ground: Ground): string[] {
  return [...numbering(scenarios), ...scenarios.flatMap((scenario) => gapsOf(scenario, ground))];
}

function numbering(scenarios: readonly Scenario[]): string[] {
  const there = scenarios.map(({ id }) => id);
  const wanted = Array.from({ length: total }, (_, n) => `RW-${String(n + 1).padStart(2, '0')}`);
  const missing = wanted.filter((id) => !there.includes(id as Scenario['id']));
  const more = there.filter((id, at) => !wanted.includes(id) || there.indexOf(id) !== at);
  return [...missing.map((id) => `${id}: is not there`), ...more.map((id) => `${id}: once more`)];
}

function gapsOf(scenario: Scenario, ground: Ground): string[] {
  const { id } = scenario;
  const mutant = ground.mutants[id];
  if ('outOfScope' in scenario) return mutant ? [`${id}: has a mutant and no test`] : [];
  const { by, proofs } = scenario;
  const tests = proofs.flatMap((proof) => problemOf(proof, ground) ?? []);
  return [
    ...(proofs.length === 0 ? ['no test'] : []),
    ...tests,
    ...(by === 'agent' && !mutant ? ['no mutant'] : []),
    ...(mutant && !isNoticed(mutant, proofs) ? ['its mutant is for another test'] : []),
  ].map((problem) => `${id}: ${problem}`);
}

function problemOf({ file, title }: Proof, { included, textOf: read }: Ground): string | undefined {
  const text = read(file);
  if (text === undefined) return `there is no ${file}`;
  const lost = partsOf(title).find((part) => !isTitleIn(text, part));
  if (lost !== undefined) return `${file} has no test "${lost}"`;
  if (included.some((glob) => matchesGlob(file, glob))) return undefined;
  return `${file} is not run before something lands`;
}

/** Whether the text has the title as a string of its own, in whatever quotes. */
function isTitleIn(text: string, title: string): boolean {
  return [`'${title}'`, `"${title}"`, `\`${title}\``, `'${title.replaceAll("'", "\\'")}'`].some(
    (literal) => text.includes(literal),
  );
}

function isNoticed({ tests, named }: Mutant, proofs: readonly Proof[]): boolean {
  const [, ...files] = tests;
  return proofs.some(({ file, title }) => files.includes(file) && named === namePattern(title));
}
