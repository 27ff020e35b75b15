import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { root } from '../../scenarios/proofs.ts';
import { slowness } from '../../speed.ts';
import { type Mutant, mutated } from './operators.ts';
import type { Selection, TestId, TestRun } from './verdict.ts';

const run = promisify(execFile);

/** Low also on a slow machine: a mutant often makes tests wait until their limit. A limit too low makes a mutant `unstable`. */
const factor = Math.min(slowness, 2);
/** Time limit for a vitest process, in seconds: a mutant may loop endlessly. */
const limit = Math.round(240 * factor);

const environment = {
  MULTINIC_TEST_WORKERS: '2',
  MULTINIC_TEST_SLOWNESS: `${factor}`,
  // All cases in rotating tables: this commit's part may lack the case that detects the mutant.
  MULTINIC_TEST_DEPTH: 'all',
  // All lives take longer than the time limit.
  MULTINIC_REMOVAL_LIVES: '6',
};

/** Tracked files and files that git would add; tests also query git for the number of commits. */
const copy = `git ls-files -z --cached --others --exclude-standard |
  tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory="$1"
echo "gitdir: $(git rev-parse --absolute-git-dir)" >"$1/.git"
ln -s "$PWD/node_modules" "$1/node_modules"`;

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** Exit of `execFile`: a number from vitest, a signal from the time limit. */
type Exit = Error & { readonly code?: unknown; readonly signal?: unknown };

/** A copy of this tree for planting mutants. */
export class TreeCopy implements AsyncDisposable {
  readonly #folder: string;
  readonly #tree: string;
  readonly #stop: AbortSignal;

  private constructor(folder: string, stop: AbortSignal) {
    this.#folder = folder;
    this.#tree = join(folder, 'tree');
    this.#stop = stop;
  }

  static async make(stop: AbortSignal): Promise<TreeCopy> {
    const folder = await mkdtemp(join(tmpdir(), 'mutants-'));
    for (const name of ['tree', 'tmp']) await mkdir(join(folder, name));
    await run('bash', ['-euo', 'pipefail', '-c', copy, 'copy', join(folder, 'tree')], {
      cwd: root,
    });
    return new TreeCopy(folder, stop);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }

  /** Runs the tests, with the mutant if present; restores the source afterwards. */
  async run(selection: Selection, mutant?: Mutant): Promise<TestRun> {
    if (!mutant) return this.#vitest(selection);
    const path = join(this.#tree, mutant.file);
    const source = await readFile(path, 'utf8');
    await writeFile(path, mutated(source, mutant));
    try {
      return await this.#vitest(selection);
    } finally {
      await writeFile(path, source);
    }
  }

  async #vitest({ project, files, pattern }: Selection): Promise<TestRun> {
    const output = join(this.#folder, 'report.json');
    await rm(output, { force: true });
    const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--bail=1'];
    const options = ['--project', project, '--reporter=json', `--outputFile=${output}`];
    const chosen = pattern === undefined ? files : [...files, '-t', pattern];
    // timeout(1) ends the whole process group: a vitest worker in an endless loop would outlive vitest.
    const limited = ['--signal=KILL', `${limit}`, process.execPath, ...vitest, ...options];
    const isGreen = await run('timeout', [...limited, ...chosen], {
      cwd: this.#tree,
      env: {
        ...process.env,
        ...environment,
        MULTINIC_TEST_RESULTS: this.#folder,
        // Stopped tests leave files behind. Host tests leave mounts, and removing the copy must not remove files below a mount.
        ...(project === 'unit' ? { TMPDIR: join(this.#folder, 'tmp') } : {}),
      },
      maxBuffer: 64 * 1024 * 1024,
      signal: this.#stop,
    }).then(
      () => true,
      ({ code, signal }: Exit) => {
        this.#stop.throwIfAborted();
        if (typeof code !== 'number' && signal !== 'SIGKILL') throw new Error(String(code));
        return false;
      },
    );
    return { isGreen, ...(await this.#tests(output)) };
  }

  async #tests(output: string): Promise<Pick<TestRun, 'failed' | 'passed'>> {
    const text = await readFile(output, 'utf8').catch(() => '{"testResults":[]}');
    const tests = report.parse(JSON.parse(text)).testResults.flatMap((result) => {
      const file = relative(this.#tree, result.name);
      const each = result.assertionResults.map(({ fullName: name, status }) => ({
        file,
        name,
        status,
      }));
      const isAbout = each.some(({ status }) => status === 'failed');
      return isAbout ? each : [...each, { file, name: '', status: result.status }];
    });
    const of = (wanted: string): TestId[] =>
      tests.flatMap(({ file, name, status }) => (status === wanted ? [{ file, name }] : []));
    return { failed: of('failed'), passed: of('passed') };
  }
}
