// Plants each mutant in a copy of the tree and runs its tests there; a mutant that survives fails the run.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Mutant, planted } from './mutant.ts';
import { mutants } from './mutants.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const parts = ['src', 'rig', 'test', 'deploy', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

async function copyOfTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'mutants-'));
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs the tests; answers whether they were green. */
async function green(copy: string, [project, ...files]: Mutant['tests']): Promise<boolean> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  try {
    await run(process.execPath, [vitest, 'run', '--project', project, '--bail=1', ...files], {
      cwd: copy,
      maxBuffer: 64 * 1024 * 1024,
    });
    return true;
  } catch {
    return false;
  }
}

async function survives(copy: string, mutant: Mutant): Promise<boolean> {
  const path = join(copy, mutant.file);
  const source = await readFile(path, 'utf8');
  await writeFile(path, planted(source, mutant));
  try {
    return await green(copy, mutant.tests);
  } finally {
    await writeFile(path, source);
  }
}

const copy = await copyOfTree();
let survivors = 0;
try {
  for (const mutant of mutants) {
    if (!(await green(copy, mutant.tests))) {
      throw new Error(`tests are red without a mutant: ${mutant.tests.join(' ')}`);
    }
    const alive = await survives(copy, mutant);
    if (alive) survivors += 1;
    console.log(
      `${alive ? 'SURVIVED' : 'killed  '}  ${mutant.file}: ${mutant.find} -> ${mutant.replace}`,
    );
  }
} finally {
  await rm(copy, { recursive: true });
}
console.log(`${mutants.length - survivors} of ${mutants.length} mutants killed`);
process.exitCode = survivors > 0 ? 1 : 0;
