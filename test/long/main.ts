// Runs a suite that is too long for CI, or lists all suites: main.ts [SUITE [ARGUMENT…]]
// With SAMPLE=1 a suite takes about five minutes. Logs and results are in test-results/long.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Suite, suites } from './suites.ts';

const root = join(import.meta.dirname, '../..');
/** Separate from CI results: samples skip tests, but CI must not. */
const results = join(process.env['MULTINIC_TEST_RESULTS'] ?? join(root, 'test-results'), 'long');
const isSample = Boolean(process.env['SAMPLE']);

function list(): void {
  console.log(
    'make test-long SUITE=NAME [SAMPLE=1] [ARGS=…]; SAMPLE=1 takes about five minutes.\n',
  );
  for (const { name, minutes, needsRoot, proves } of suites) {
    const cost = `${String(minutes).padStart(3)} min  ${needsRoot ? 'root' : '    '}`;
    console.log(`${name.padEnd(18)}${cost}  ${proves}`);
  }
}

/** Runs the command with output on the terminal and in `NAME.log`; true if the command succeeded. */
function run({ name, command, sample }: Suite, args: readonly string[]): boolean {
  mkdirSync(results, { recursive: true });
  const depth = isSample ? { MULTINIC_TEST_SAMPLE: '1' } : { MULTINIC_TEST_DEPTH: 'all' };
  const script = `{ ${isSample ? sample : command}; } 2>&1 | tee '${join(results, `${name}.log`)}'`;
  const started = performance.now();
  const { status } = spawnSync('bash', ['-euo', 'pipefail', '-c', script, name, ...args], {
    cwd: root,
    env: { ...process.env, ...depth, MULTINIC_TEST_RESULTS: results },
    stdio: 'inherit',
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  const verdict = status === 0 ? 'ok' : 'FAILED';
  const row = [isSample ? `${name} (sample)` : name, seconds, verdict];
  appendFileSync(join(results, 'stages.tsv'), `${row.join('\t')}\n`);
  console.log(`${row[0]}: ${verdict} after ${seconds} s; log: ${join(results, `${name}.log`)}`);
  return status === 0;
}

function refusal(name: string, suite: Suite | undefined): string | undefined {
  if (!suite) return `There is no suite ${name}. List the suites: make test-long`;
  if (!suite.needsRoot || process.getuid?.() === 0) return undefined;
  return `The suite ${name} needs root. Run: sudo make test-long SUITE=${name}`;
}

const [name, ...args] = process.argv.slice(2);
const suite = suites.find((each) => each.name === name);
if (name === undefined) {
  list();
} else if (!suite || refusal(name, suite)) {
  console.error(refusal(name, suite));
  process.exitCode = 2;
} else if (!run(suite, args)) {
  process.exitCode = 1;
}
