// Plants each mutant in a copy of the tree and runs its tests there; a mutant that survives fails the run.
//   main.ts [ROOM…]     only the mutants of these rooms
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Mutant, planted } from './mutant.ts';
import { mutantsOfRoom } from './mutants.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const parts = ['src', 'rig', 'test', 'deploy', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
/** Copies that are worked on at once; tests mostly use one core each. */
const copies = 2;
/** A mutant that makes its tests run for ever is noticed too; in seconds. */
const limit = 300;

async function copyOfTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'mutants-'));
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Vitest lists tests on one and says on the other why they are red. */
type Ended = { code?: unknown; signal?: unknown; stdout: string; stderr: string };

/** Runs the tests; answers what they printed when they were red, and nothing when they were green. */
async function redness(
  copy: string,
  { tests: [project, ...files], named }: Mutant,
): Promise<string | undefined> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const chosen = named ? [...files, '-t', named] : files;
  try {
    // timeout(1) ends the whole process group: a worker of vitest in an endless loop would outlive vitest.
    const tests = [process.execPath, vitest, 'run', '--project', project, '--bail=1', ...chosen];
    await run('timeout', ['--signal=KILL', `${limit}`, ...tests], {
      cwd: copy,
      maxBuffer: 64 * 1024 * 1024,
    });
    return undefined;
  } catch (error) {
    // Vitest ended with a status, or all of it was ended; anything else is no verdict.
    const { code, signal, stdout, stderr } = error as Ended;
    if (typeof code === 'number' || signal === 'SIGKILL') return stdout + stderr;
    throw error;
  }
}

async function survives(copy: string, mutant: Mutant): Promise<boolean> {
  const path = join(copy, mutant.file);
  const source = await readFile(path, 'utf8');
  await writeFile(path, planted(source, mutant));
  try {
    return (await redness(copy, mutant)) === undefined;
  } finally {
    await writeFile(path, source);
  }
}

const rooms = process.argv.slice(2);
for (const room of rooms) {
  if (!(room in mutantsOfRoom)) throw new Error(`no room has mutants by the name of ${room}`);
}
const chosen = Object.entries(mutantsOfRoom).filter(
  ([room]) => rooms.length === 0 || rooms.includes(room),
);
const mutants = chosen.flatMap(([, list]) => list);
const untouched = new Map<string, Promise<string | undefined>>();
const queue = mutants.values();
let survivors = 0;

/** Takes mutants from the queue until there are none; the tests of each are seen green without it, once. */
async function work(): Promise<void> {
  const copy = await copyOfTree();
  try {
    for (const mutant of queue) {
      const tests = [...mutant.tests, mutant.named].join(' ');
      const before = untouched.get(tests) ?? redness(copy, mutant);
      untouched.set(tests, before);
      const red = await before;
      if (red !== undefined) throw new Error(`tests are red without a mutant: ${tests}\n${red}`);
      const alive = await survives(copy, mutant);
      if (alive) survivors += 1;
      const { file, find, replace } = mutant;
      console.log(`${alive ? 'SURVIVED' : 'killed  '}  ${file}: ${find} -> ${replace}`);
    }
  } finally {
    await rm(copy, { recursive: true });
  }
}

await Promise.all(Array.from({ length: copies }, work));
for (const [room, list] of chosen) console.log(`${room.padEnd(12)}${list.length} mutants`);
console.log(`${mutants.length - survivors} of ${mutants.length} mutants killed`);
process.exitCode = survivors > 0 ? 1 : 0;
