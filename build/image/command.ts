import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Where a program comes from that a machine may lack. */
const packageOf: Readonly<Record<string, string>> = { 'apt-get': 'apt', 'dpkg-deb': 'dpkg' };

/** Runs a program to its end and answers what it printed; its errors hold what it complained of. */
export async function run(
  [program, ...words]: readonly [string, ...string[]],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const { stdout } = await execute(program, words, { ...options, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    const from = packageOf[program] ?? program;
    throw new Error(`there is no ${program}; it is in Debian's package ${from}`, { cause: error });
  }
}

/** What went wrong, for people: the words of the program that failed, else ours. */
export function complaintOf(error: unknown): string {
  const { message, stderr } = error as Error & { readonly stderr?: string };
  return stderr?.trim() ? `${message.split('\n')[0]}\n${stderr.trim()}` : message;
}
