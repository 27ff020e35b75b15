import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { root } from './tree.ts';

const run = promisify(execFile);

interface Planted {
  readonly room: string;
  readonly source: string;
}

const diagnostics = z.object({
  diagnostics: z.array(z.looseObject({ filename: z.string() })),
});

const fileOf = ({ room }: Planted, at: number): string => `src/${room}/planted-${at}/planted.ts`;

/** Returns what the linter reports for each file, planted in a room of an otherwise empty copy of the tree. */
async function lint(planted: readonly Planted[]): Promise<readonly string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'lint-'));
  try {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) {
      await cp(join(root, name), join(copy, name));
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const [at, each] of planted.entries()) {
      const path = join(copy, fileOf(each, at));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, each.source);
    }
    const report = diagnostics.parse(JSON.parse(await reportOf(copy)));
    return planted.map((each, at) => {
      const own = report.diagnostics.filter(({ filename }) => filename === fileOf(each, at));
      return JSON.stringify(own);
    });
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function reportOf(copy: string): Promise<string> {
  const oxlint = join(root, 'node_modules/.bin/oxlint');
  try {
    const options = ['--deny-warnings', '--format=json', 'src'];
    return (await run(oxlint, options, { cwd: copy })).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const imports = [
  ['web', '../../dashboard/guard/guard.ts', 'the page imports api'],
  ['web', 'node:fs', 'the page imports api'],
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
  ['session', '../../cli/options.ts', 'session serves cli and dashboard'],
  ['triggers', '../../kube/client.ts', 'triggers may import api, process and time only'],
  ['operator', '../../../rig/apiserver/server.ts', 'parts never import each other'],
] as const;
const anyType = 'export function f(x: any): void {\n  console.log(x);\n}\n';

describe('the linter', () => {
  let reports: readonly string[] = [];
  beforeAll(async () => {
    // In one run: each starts the type checker, which takes a second.
    reports = await lint([
      ...imports.map(([room, path]) => ({
        room,
        source: `import * as other from '${path}';\nconsole.log(other);\n`,
      })),
      { room: 'api', source: anyType },
      { room: 'api', source: 'export const one = 1;\n' },
    ]);
  });

  it.each(imports.map((row, at) => [...row, at] as const))(
    'refuses that %s imports %s',
    (_room, _path, message, at) => {
      expect(reports[at]).toContain(message);
    },
  );

  it('refuses any', () => {
    expect(reports[imports.length]).toContain('no-explicit-any');
  });

  it('accepts a clean file', () => {
    expect(reports[imports.length + 1]).toBe('[]');
  });
});
