import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Scenario } from './scenario.ts';

const report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** A test of the last runs: its whole name, and how it ended. */
export interface Ran {
  readonly name: string;
  readonly status: string;
}

/** Returns the tests of the last runs in `directory`; none if nothing ran. */
export function lastResults(directory: string): Ran[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const { testResults } = report.parse(JSON.parse(readFileSync(join(directory, name), 'utf8')));
    return testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ fullName, status }) => ({ name: fullName, status })),
    );
  });
}

/** Returns the tests with the id of a scenario that did not pass when they ran last. */
export function notPassed(scenarios: readonly Scenario[], results: readonly Ran[]): string[] {
  return scenarios.flatMap(({ id }) =>
    results
      .filter(({ name, status }) => name.includes(`[${id}]`) && status !== 'passed')
      .map(({ name, status }) => `${id}: "${name}" was ${status}`),
  );
}

/** Returns the scenarios of which no test passed in the last runs: nobody ran what its text promises. */
export function notRun(scenarios: readonly Scenario[], results: readonly Ran[]): string[] {
  const passed = results.filter(({ status }) => status === 'passed');
  return scenarios
    .filter((scenario) => 'holds' in scenario)
    .filter(({ id }) => !passed.some(({ name }) => name.includes(`[${id}]`)))
    .map(({ id }) => `${id}: no test with this id passed in the last runs`);
}
