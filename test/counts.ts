// Prints what every vitest run of this tree counted, and the sum alone on the last line.
//   counts.ts PROJECT…     these must have run: a suite that did not is a failure
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
});

const directory = process.env['MULTINIC_TEST_RESULTS'] ?? 'test-results';
const expected = new Set(process.argv.slice(2));
const total = { passed: 0, failed: 0, skipped: 0 };

for (const name of (await readdir(directory)).toSorted()) {
  if (!name.endsWith('.json')) continue;
  const counts = report.parse(JSON.parse(await readFile(join(directory, name), 'utf8')));
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = counts;
  const project = name.replace(/\.json$/, '');
  expected.delete(project);
  console.log(`${project.padEnd(14)}${passed} passed, ${failed} failed, ${skipped} skipped`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
for (const project of expected) console.log(`${project.padEnd(14)}did not run`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
const complete = expected.size === 0 && total.passed > 0;
if (!complete || total.failed > 0 || total.skipped > 0) process.exitCode = 1;
