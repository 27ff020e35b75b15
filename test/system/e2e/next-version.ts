import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** What is copied of a source tree to make a version of it. */
const parts = [
  'src',
  'build',
  'deploy',
  'charts',
  'docs',
  'rig',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'LICENSE',
];

/** A source tree as the next version has it, and the images and charts that it makes. */
export interface NextVersion {
  readonly version: string;
  readonly charts: string;
  readonly images: Readonly<Record<'controllers' | 'agent', string>>;
}

/** One more field of a kind, one more protocol between controller and agent, and a higher number. */
const changes: readonly (readonly [file: string, from: string | RegExp, to: string])[] = [
  ['package.json', /"version": "[^"]+"/, '"version": "99.0.0"'],
  ['src/api/job.ts', 'protocols = [1, 2, 3]', 'protocols = [1, 2, 3, 4]'],
  ['src/api/job.ts', 'protocol = 3 satisfies', 'protocol = 4 satisfies'],
  ['src/controller/jobs/request.ts', '=== 3) ? 3 : 2', '=== 3) ? 4 : 4'],
  [
    'src/api/multinicnodeconfig.ts',
    'export const nodeConfigSpec = z.object({',
    "export const nodeConfigSpec = z.object({\n  later: z.string().max(64).optional().describe('A field of a later version.'),",
  ],
];

/** Makes the next version in a folder; takes as long as both images do. */
export async function makeNextVersion(folder: string): Promise<NextVersion> {
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, from, to] of changes) await change(join(folder, file), from, to);
  await run(process.execPath, ['build/generate.ts'], { cwd: folder });
  await run(process.execPath, ['build/image/build.ts'], { cwd: folder });
  const archive = (name: string) =>
    join(folder, 'dist/images', `${name}-99.0.0-linux-${architecture}.tar`);
  return {
    version: '99.0.0',
    charts: join(folder, 'charts'),
    images: { controllers: archive('multinic-controllers'), agent: archive('multinic-agent') },
  };
}

const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

async function change(path: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const changed = text.replace(from, to);
  if (changed === text)
    throw new Error(`${path} has no ${String(from)}: name what the next version changes`);
  await writeFile(path, changed);
}
