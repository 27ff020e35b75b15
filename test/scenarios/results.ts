import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { namePattern, type Proof, type Scenario } from './scenario.ts';

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

interface Ran {
  readonly name: string;
  readonly status: string;
}

/** The tests of the last runs, by their file; of files that were not run nothing is known. */
export type Results = ReadonlyMap<string, readonly Ran[]>;

/** What the last runs of this tree have left; nothing where there were none. */
export function lastResults(root: string, directory = join(root, 'test-results')): Results {
  if (!existsSync(directory)) return new Map();
  const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
  const all = files.flatMap((name) => {
    const { testResults } = report.parse(JSON.parse(readFileSync(join(directory, name), 'utf8')));
    return testResults;
  });
  return new Map(
    all.map(({ name, assertionResults }) => [
      name.replace(`${root}/`, ''),
      assertionResults.map(({ fullName, status }) => ({ name: fullName, status })),
    ]),
  );
}

/** Tests of the table that did not pass when their file was run last. */
export function notPassed(scenarios: readonly Scenario[], results: Results): string[] {
  return scenarios.flatMap((scenario) => {
    const proofs = 'proofs' in scenario ? scenario.proofs : [];
    return proofs.flatMap((proof) => {
      const verdict = verdictOn(proof, results);
      return verdict ? [`${scenario.id}: ${proof.file}, "${proof.title}" ${verdict}`] : [];
    });
  });
}

function verdictOn({ file, title }: Proof, results: Results): string | undefined {
  const ran = results.get(file);
  if (!ran) return undefined;
  const pattern = new RegExp(namePattern(title), 's');
  const tests = ran.filter(({ name }) => pattern.test(name));
  if (tests.length === 0) return 'was not run';
  const other = tests.find(({ status }) => status !== 'passed');
  return other && `was ${other.status}`;
}
