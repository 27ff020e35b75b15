// Prints what every vitest run of this tree counted, and the sum alone on the last line.
//   counts.ts PROJECT…     these must have run: a suite that did not is a failure
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  testResults: z.array(
    z.object({
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).optional(),
        }),
      ),
    }),
  ),
});

type Report = z.infer<typeof report>;

/** Enough of each failure to know where to look, when only the end of a long log is at hand. */
function failuresIn(project: string, { testResults }: Report): string[] {
  const files = testResults.flatMap(({ message = '', assertionResults }) =>
    assertionResults.length === 0 && message ? [`${project}: ${message.slice(0, 600)}`] : [],
  );
  const tests = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed');
  return [
    ...files,
    ...tests.map(({ fullName, failureMessages = [] }) =>
      [`${project}: ${fullName}`, failureMessages.join('\n').slice(0, 1500)].join('\n'),
    ),
  ];
}

const directory = process.env['MULTINIC_TEST_RESULTS'] ?? 'test-results';
const expected = new Set(process.argv.slice(2));
const failures: string[] = [];
const total = { passed: 0, failed: 0, skipped: 0 };

for (const name of (await readdir(directory)).toSorted()) {
  if (!name.endsWith('.json')) continue;
  const counts = report.parse(JSON.parse(await readFile(join(directory, name), 'utf8')));
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = counts;
  const project = name.replace(/\.json$/, '');
  expected.delete(project);
  console.log(`${project.padEnd(14)}${passed} passed, ${failed} failed, ${skipped} skipped`);
  failures.push(...failuresIn(project, counts));
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
for (const failure of failures) console.log(`\n${failure}`);
for (const project of expected) console.log(`${project.padEnd(14)}did not run`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
const complete = expected.size === 0 && total.passed > 0;
if (!complete || total.failed > 0 || total.skipped > 0) process.exitCode = 1;
