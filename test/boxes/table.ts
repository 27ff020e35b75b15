// Writes what came of the last full run to results.md, each row with the commit that it is about.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const test = z.object({ title: z.string(), status: z.string() });
type Test = z.infer<typeof test>;
const report = z.object({
  testResults: z.array(z.object({ assertionResults: z.array(test) })),
});

const repository = join(import.meta.dirname, '../..');
const results = process.env['MULTINIC_TEST_RESULTS'] ?? join(repository, 'test-results');
const { testResults } = report.parse(
  JSON.parse(readFileSync(join(results, 'integration.json'), 'utf8')),
);
const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const path = join(import.meta.dirname, 'results.md');
const former = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];

/** Of a test that was not chosen now, the row of an earlier run. */
function rowOf({ title, status }: Test): string {
  const begin = `| ${title.replace(/: one state.*/, '')} |`;
  if (status !== 'skipped') return `${begin} ${commit} | ${status} |`;
  return former.find((line) => line.startsWith(begin)) ?? `${begin} | not run |`;
}

const rows = tests.map(rowOf);
writeFileSync(
  path,
  `# Hosts of every family in boxes

Each test runs side by side in ten boxes, and passes when it does in all of them: Debian 11, 12 and 13, each with netplan and
networkd, with networkd alone and with NetworkManager and keyfiles, and Debian 12 with NetworkManager and ifcfg files. Made by
\`make test-boxes-full\`.

| | commit | in all boxes |
| --- | --- | --- |
${rows.join('\n')}
`,
);
process.stdout.write(`${rows.join('\n')}\n`);
if (rows.some((row) => !row.endsWith(' passed |'))) process.exitCode = 1;
