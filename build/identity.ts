import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import type { Build } from '../src/process/version.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

/** Version in committed charts, equal for all commits: tests install these charts without packaging. */
export const committedBuild: Build = { version: manifest.version, commit: 'source' };

let ofCheckout: Promise<Build> | undefined;

/**
 * Returns version and commit from the first call in this process: images and charts get the same version also if files change during
 * the build.
 */
export function checkoutBuild(options?: VersionOptions): Promise<Build> {
  ofCheckout ??= buildOf(root, options);
  return ofCheckout;
}

async function buildOf(folder: string, options?: VersionOptions): Promise<Build> {
  return { version: await versionOf(folder, options), commit: await commitOf(folder) };
}

interface VersionOptions {
  /** Throw if the version is uncertain, instead of a warning. */
  readonly isRelease?: boolean;
}

/** Reads the version from git or from the file VERSION; `build/version` has the rules. */
export async function versionOf(
  folder: string,
  { isRelease = false }: VersionOptions = {},
): Promise<string> {
  const words = [...(isRelease ? ['--release'] : []), folder];
  const { stdout, stderr } = await run(join(root, 'build/version'), words);
  process.stderr.write(stderr);
  return stdout.trim();
}

/** Commit of a repository, with `-dirty` after changes to tracked files; `unknown` for a folder without own repository. */
export async function commitOf(folder: string): Promise<string> {
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(await realpath(folder)) };
  try {
    const { stdout } = await run(
      'git',
      ['describe', '--always', '--abbrev=40', '--dirty', '--exclude=*'],
      {
        cwd: folder,
        env,
      },
    );
    return stdout.trim();
  } catch {
    // No git, or no repository: a source archive has neither.
    return 'unknown';
  }
}
