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
const suites = [...new Set(tests.flatMap(({ ancestorTitles }) => ancestorTitles))];
const titles = [...new Set(tests.map(({ title }) => title))];
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

const resultOf = (suite: string, title: string) =>
  tests.find((test) => test.title === title && test.ancestorTitles.includes(suite))?.status ?? '-';
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const passed = tests.filter(({ status }) => status === 'passed').length;

const text = `# Hosts of every family in boxes

Commit ${commit}: ${passed} of ${tests.length} passed. Each test runs side by side in three boxes of a Debian: netplan with networkd, networkd
alone, NetworkManager with keyfiles; on bookworm in a fourth: NetworkManager with ifcfg files. Made by \`make test-boxes-full\`.

${row(['', ...suites])}
${row(['---', ...suites.map(() => '---')])}
${titles.map((title) => row([title.replace(/: one state.*/, ''), ...suites.map((suite) => resultOf(suite, title))])).join('\n')}
`;
writeFileSync(join(import.meta.dirname, 'results.md'), text);
process.stdout.write(text);
if (passed < tests.length) process.exitCode = 1;
