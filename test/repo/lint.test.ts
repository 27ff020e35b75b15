import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from './tree.ts';

const run = promisify(execFile);

/** What the linter says of a file planted in a room of an otherwise empty copy of the tree. */
async function lint(room: string, source: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'lint-'));
  const directory = join(copy, 'src', room, 'planted');
  try {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) {
      await cp(join(root, name), join(copy, name));
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'planted.ts'), source);
    const oxlint = join(root, 'node_modules/.bin/oxlint');
    const { stdout } = await run(oxlint, ['--deny-warnings', 'src'], { cwd: copy });
    return stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    await rm(copy, { recursive: true });
  }
}

describe('the linter', () => {
  it.each([
    ['api', '../../kube/client.ts', 'api depends on nothing'],
    ['kube', '../../process/log.ts', 'it imports time only'],
    ['plan', '../../openstack/cloud.ts', 'plan is pure'],
    ['plan', 'node:fs', 'plan is pure'],
    ['explain', '../../kube/client.ts', 'explain is pure'],
    ['operator', '../../explain/examine.ts', 'parts never import each other'],
    ['agent', '../../kube/client.ts', 'the agent has no API access'],
    ['agent', '../../self-check/self-check.ts', 'the agent has no API access'],
    ['self-check', '../../operator/rights.ts', 'self-check may import api, kube'],
    ['certificates', '../../api/names.ts', 'certificates may import kube'],
    ['viola', '../../controller/start.ts', 'parts never import each other'],
    ['lifecycle', '../../operator/start.ts', 'parts never import each other'],
    ['triggers', '../../kube/client.ts', 'triggers may import api, process and time only'],
    ['operator', '../../../rig/apiserver/server.ts', 'parts never import each other'],
  ])('refuses that %s imports %s', async (room, path, message) => {
    expect(await lint(room, `import * as other from '${path}';\nconsole.log(other);\n`)).toContain(
      message,
    );
  });

  it('refuses any', async () => {
    expect(
      await lint('api', 'export function f(x: any): void {\n  console.log(x);\n}\n'),
    ).toContain('no-explicit-any');
  });

  it('accepts a clean file', async () => {
    expect(await lint('api', 'export const one = 1;\n')).toContain('0 errors');
  });
});
