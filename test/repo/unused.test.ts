import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from './tree.ts';

const run = promisify(execFile);

const planted = {
  'src/main.ts': "import { used } from './mtu.ts';\nconsole.log(used);\n",
  'src/mtu.ts': 'export const used = 1;\nexport const forTests = 2;\nexport const unused = 3;\n',
  'src/mtu.test.ts': "import { forTests } from './mtu.ts';\nconsole.log(forTests);\n",
  'src/dead.ts': 'console.log(4);\n',
};

/** Returns the output of `npm run unused` in an otherwise empty copy of the tree; throws if the command succeeds. */
async function unusedIn(files: Readonly<Record<string, string>>): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'unused-'));
  try {
    for (const name of ['knip.json', 'tsconfig.json', 'package.json']) {
      await cp(join(root, name), join(copy, name));
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const [path, source] of Object.entries(files)) {
      await mkdir(dirname(join(copy, path)), { recursive: true });
      await writeFile(join(copy, path), source);
    }
    return await failureOf(copy);
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function failureOf(copy: string): Promise<string> {
  try {
    await run('npm', ['run', '-s', 'unused', '--', '--include', 'files,exports'], { cwd: copy });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
  throw new Error('npm run unused reports nothing');
}

it('`npm run unused` reports unused exports and dead files; tests count as users', async () => {
  const report = await unusedIn(planted);
  expect(report).toMatch(/Unused files \(1\)\s+src\/dead\.ts/);
  expect(report).toMatch(/Unused exports \(1\)\s+unused\s+src\/mtu\.ts:3/);
});
