// Writes the results of the last full run to results.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { putRow } from '../../results-table.ts';

const report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(z.object({ title: z.string(), status: z.string() })),
    }),
  ),
});

const repository = join(import.meta.dirname, '../../..');
const results = process.env['MULTINIC_TEST_RESULTS'] ?? join(repository, 'test-results');
const { testResults } = report.parse(
  JSON.parse(readFileSync(join(results, 'distros.json'), 'utf8')),
);
const tests = testResults
  .flatMap(({ assertionResults }) => assertionResults)
  .map(({ title, status }) => ({ title: title.replace(/: one state.*/, ''), status }));

const table = {
  path: join(import.meta.dirname, 'results.md'),
  text: `# Hosts of every family in boxes

Each test runs side by side in ten boxes, and passes when it does in all of them: Debian 11, 12 and 13, each with netplan and
networkd, with networkd alone and with NetworkManager and keyfiles, and Debian 12 with NetworkManager and ifcfg files. Made by
\`make test-long SUITE=distros\`.
`,
  head: ['', 'in all boxes'],
  titles: tests.map(({ title }) => title),
} as const;

const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
for (const { title, status } of ran) console.log(putRow(table, title, [status]));
if (ran.some(({ status }) => status === 'failed')) process.exitCode = 1;
