import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Version from package.json, shared by all parts. */
export async function versionOf(folder: string): Promise<string> {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
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
