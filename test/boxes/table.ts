// Writes what came of the last full run to results.md, with the commit that it was about.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() }),
      ),
    }),
  ),
});

const repository = join(import.meta.dirname, '../..');
const results = process.env['MULTINIC_TEST_RESULTS'] ?? join(repository, 'test-results');
const { testResults } = report.parse(
  JSON.parse(readFileSync(join(results, 'integration.json'), 'utf8')),
);
const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const passed = tests.filter(({ status }) => status === 'passed').length;
const row = ({ title, status }: { readonly title: string; readonly status: string }) =>
  `| ${title.replace(/: one state.*/, '')} | ${status} |`;

const text = `# Hosts of every family in boxes

Commit ${commit}: ${passed} of ${tests.length} passed. Each test runs side by side in ten boxes, and passes when it does in all of them: Debian 11,
12 and 13, each with netplan and networkd, with networkd alone and with NetworkManager and keyfiles, and Debian 12 with
NetworkManager and ifcfg files. Made by \`make test-boxes-full\`.

| | in all boxes |
| --- | --- |
${tests.map(row).join('\n')}
`;
writeFileSync(join(import.meta.dirname, 'results.md'), text);
process.stdout.write(text);
if (passed < tests.length) process.exitCode = 1;
