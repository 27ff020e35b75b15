// Prints what every vitest run of this tree counted, and the sum alone on the last line.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
});

const directory = process.env['MULTINIC_TEST_RESULTS'] ?? 'test-results';
const total = { passed: 0, failed: 0, skipped: 0 };

for (const name of (await readdir(directory)).toSorted()) {
  if (!name.endsWith('.json')) continue;
  const counts = report.parse(JSON.parse(await readFile(join(directory, name), 'utf8')));
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = counts;
  const project = name.replace(/\.json$/, '').padEnd(14);
  console.log(`${project}${passed} passed, ${failed} failed, ${skipped} skipped`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
if (total.failed > 0 || total.skipped > 0 || total.passed === 0) process.exitCode = 1;
