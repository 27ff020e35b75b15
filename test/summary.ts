// Prints what the runs of this tree took and counted: stages, slowest test files, skipped cases, failures, and the sum on the
// last line. Writes durations.tsv (run, file, seconds, tests) beside the results.
//   summary.ts RUN…     these must have left results: a suite that did not run is a failure
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';

const testFile = z.object({
  name: z.string(),
  startTime: z.number(),
  endTime: z.number(),
  message: z.string().optional(),
  assertionResults: z.array(
    z.object({
      fullName: z.string(),
      status: z.string(),
      failureMessages: z.array(z.string()).optional(),
    }),
  ),
});
const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  testResults: z.array(testFile),
});

type TestFile = z.infer<typeof testFile>;
interface Run extends z.infer<typeof report> {
  readonly name: string;
}

const slowestShown = 20;
const directory = process.env['MULTINIC_TEST_RESULTS'] ?? 'test-results';

/** Returns enough of each failure to know where to look when only the end of a long log is at hand. */
function failuresOf({ name: run, testResults }: Run): string[] {
  const files = testResults.flatMap(({ assertionResults, message = '' }) =>
    assertionResults.length === 0 && message ? [`${run}: ${message.slice(0, 600)}`] : [],
  );
  const tests = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed');
  return [
    ...files,
    ...tests.map(({ fullName, failureMessages = [] }) =>
      [`${run}: ${fullName}`, failureMessages.join('\n').slice(0, 1500)].join('\n'),
    ),
  ];
}

function durationsOf({ name: run, testResults }: Run) {
  return testResults.map(({ name, startTime, endTime, assertionResults }: TestFile) => ({
    run,
    file: relative(process.cwd(), name),
    seconds: Math.round((endTime - startTime) / 1000),
    tests: assertionResults.length,
  }));
}

async function textOf(name: string): Promise<string> {
  return readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
}

const names = (await readdir(directory)).filter((name) => name.endsWith('.json')).toSorted();
const runs = await Promise.all(
  names.map(async (name): Promise<Run> => {
    const text = await readFile(join(directory, name), 'utf8');
    return { name: name.replace(/\.json$/, ''), ...report.parse(JSON.parse(text)) };
  }),
);
const durations = runs.flatMap(durationsOf).toSorted((a, b) => b.seconds - a.seconds);
const rows = durations.map(({ run, file, seconds, tests }) =>
  [run, file, seconds, tests].join('\t'),
);
await writeFile(join(directory, 'durations.tsv'), `${rows.join('\n')}\n`);

console.log('\nstage                 seconds');
for (const line of (await textOf('stages.tsv')).split('\n').filter(Boolean)) {
  const [stage = '', seconds = '', verdict = ''] = line.split('\t');
  console.log(`${stage.padEnd(20)}${seconds.padStart(9)}  ${verdict}`);
}
console.log(`\nslowest ${slowestShown} test files: seconds, tests`);
for (const { file, seconds, tests } of durations.slice(0, slowestShown)) {
  console.log(`${String(seconds).padStart(6)}${String(tests).padStart(6)}  ${file}`);
}
const skipped = await textOf('skipped.txt');
if (skipped) console.log(`\nleft to other runs and the long suites:\n${skipped.trimEnd()}`);
for (const failure of runs.flatMap(failuresOf)) console.log(`\n${failure}`);

console.log('');
const total = { passed: 0, failed: 0, skipped: 0 };
for (const { name, numPassedTests, numFailedTests, numPendingTests } of runs) {
  total.passed += numPassedTests;
  total.failed += numFailedTests;
  total.skipped += numPendingTests;
  const counts = `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`;
  console.log(`${name.padEnd(14)}${counts}`);
}
const missing = process.argv.slice(2).filter((name) => !runs.some((run) => run.name === name));
for (const name of missing) console.log(`${name.padEnd(14)}did not run`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
const complete = missing.length === 0 && total.passed > 0;
if (!complete || total.failed > 0 || total.skipped > 0) process.exitCode = 1;
