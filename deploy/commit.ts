import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The commit of a folder, with `-dirty` when tracked files have changed since; `unknown` outside a repository. */
export async function commitOf(folder: string): Promise<string> {
  try {
    const { stdout } = await run(
      'git',
      ['describe', '--always', '--abbrev=40', '--dirty', '--exclude=*'],
      {
        cwd: folder,
      },
    );
    return stdout.trim();
  } catch {
    // No git, or no repository: a source archive has neither.
    return 'unknown';
  }
}
