import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** A different version of this repository, bundled with this version's packages. */
export interface OtherVersion extends AsyncDisposable {
  /** Bundle folder. */
  readonly bundle: string;
  /** Folder with CRDs and rights. */
  readonly deploy: string;
  /** Newest agent protocol. */
  readonly protocol: number;
}

/** Extracts the version `ref` from git and runs this version's own bundler. */
export async function makeOtherVersion(ref: string): Promise<OtherVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-skew-'));
  const archive = join(folder, 'source.tar');
  const source = join(folder, 'source');
  await run('git', ['-C', root, 'archive', '--output', archive, ref]);
  await mkdir(source);
  await run('tar', ['-xf', archive, '-C', source]);
  await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
  await run(process.execPath, [bundlerIn(source)], { cwd: source });
  return {
    bundle: join(source, 'dist'),
    deploy: join(source, 'deploy'),
    protocol: await protocolIn(source),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

async function protocolIn(source: string): Promise<number> {
  const { protocol } = (await import(join(source, 'src/api/job.ts'))) as { protocol: number };
  return protocol;
}

/** Versions before the folder `build` have their generators in `deploy`. */
function bundlerIn(source: string): string {
  const paths = ['build/bundle.ts', 'deploy/bundle.ts'].map((path) => join(source, path));
  return paths.find((path) => existsSync(path)) ?? join(source, 'build/bundle.ts');
}
