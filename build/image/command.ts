import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Where a program comes from that a machine may lack. */
const packageOf: Readonly<Record<string, string>> = { 'apt-get': 'apt', 'dpkg-deb': 'dpkg' };

/** Runs a program and resolves to stdout; the error contains stderr. */
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

/** Returns the error text for users: stderr of the failed program, or our message. */
export function complaintOf(error: unknown): string {
  const { message, stderr } = error as Error & { readonly stderr?: string };
  return stderr?.trim() ? `${message.split('\n')[0]}\n${stderr.trim()}` : message;
}
