// Plants the defects in `mutants/*.patch` of both properties in a copy of the tree, one after another, and runs the
// property's lives from seed 1 until the first violation. A defect without a violation fails the run.
// Usage: node test/property/removals/mutants.ts [mutant…]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root } from '../../repo/tree.ts';

const folders = [
  { folder: join(import.meta.dirname, 'mutants'), options: [] },
  { folder: join(import.meta.dirname, '../owners/mutants'), options: ['--owners'] },
];
const lives = 200;
/** Files that git knows or would add, with the modules of this tree. */
const copy = `git ls-files -z --cached --others --exclude-standard |
  tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"
ln -s "$PWD/node_modules" "$1/node_modules"`;

interface Run {
  readonly status: number | null;
  readonly stdout: string;
}

function run(cwd: string, command: string, args: readonly string[]): Run {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const { status, stdout, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: [...stdio],
  });
  if (error) throw error;
  return { status, stdout };
}

function expectSuccess({ status }: Run, what: string): void {
  if (status !== 0) throw new Error(`${what} failed with exit code ${status}`);
}

interface Mutant {
  readonly patch: string;
  readonly options: readonly string[];
}

/** Runs the lives with a defect; returns true if one of them finds it. */
function isFound(tree: string, { patch, options }: Mutant): boolean {
  const name = basename(patch, '.patch');
  expectSuccess(run(tree, 'git', ['apply', patch]), `git apply ${name}`);
  try {
    const { status, stdout } = run(tree, process.execPath, [
      'test/property/removals/main.ts',
      `${lives}`,
      '1',
      '--first',
      ...options,
    ]);
    const [seed = ''] = stdout.match(/^seed \d+/m) ?? [];
    const [, flaw = ''] = stdout.slice(stdout.indexOf(seed)).split('\n');
    const isRed = status === 1 && seed !== '';
    console.log(`${name}: ${isRed ? `found by ${seed}: ${flaw}` : `NOT FOUND\n${stdout}`}`);
    return isRed;
  } finally {
    expectSuccess(run(tree, 'git', ['apply', '--reverse', patch]), `git apply --reverse ${name}`);
  }
}

const names = process.argv.slice(2);
const mutants = folders.flatMap(({ folder, options }) =>
  readdirSync(folder)
    .filter((file) => names.length === 0 || names.includes(basename(file, '.patch')))
    .map((file): Mutant => ({ patch: join(folder, file), options })),
);
const tree = mkdtempSync(join(tmpdir(), 'removal-mutants-'));
try {
  expectSuccess(run(root, 'bash', ['-euo', 'pipefail', '-c', copy, 'copy', tree]), 'the copy');
  const found = mutants.filter((mutant) => isFound(tree, mutant));
  console.log(`${found.length} of ${mutants.length} mutants found`);
  if (found.length < mutants.length || mutants.length === 0) process.exitCode = 1;
} finally {
  rmSync(tree, { recursive: true });
}
