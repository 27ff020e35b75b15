import { execFile } from 'node:child_process';
import { basename } from 'node:path';

export interface ScriptOptions {
  readonly stdin?: string;
  readonly timeoutMs?: number;
}

/** Runs a script of the rig and returns its standard output; the error of a failure says what it wrote to standard error. */
export async function runScript(
  path: string,
  args: readonly string[],
  { stdin = '', timeoutMs = 300_000 }: ScriptOptions = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const limits = { timeout: timeoutMs, maxBuffer: 256 * 1024 * 1024 };
  const child = execFile(path, args, limits, (cause, stdout, stderr) => {
    if (cause === null) {
      resolve(stdout);
      return;
    }
    const command = [basename(path), ...args].join(' ');
    const why = cause.killed === true ? ` (stopped after ${timeoutMs} ms)` : '';
    reject(new Error(`${command} failed${why}: ${stderr.trim() || stdout.trim()}`, { cause }));
  });
  // A script that does not read its input closes the pipe: that is no failure of the script.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(stdin);
  return promise;
}
