import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program to its end and answers what it printed; its errors hold what it complained of. */
export async function run(
  [program, ...words]: readonly [string, ...string[]],
  options: { readonly cwd?: string } = {},
): Promise<string> {
  const { stdout } = await execute(program, words, { ...options, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
