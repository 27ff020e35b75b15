import { execFile } from 'node:child_process';

export interface IpExit {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `ip` of iproute2 with arguments and standard input; rejects only when it could not run at all. */
export type RunIp = (args: readonly string[], input: string) => Promise<IpExit>;

/** A node with full BGP tables lists some hundred thousand routes. */
const maxOutput = 256 * 1024 * 1024;
/** `ip` waits for nothing but the kernel's rtnl lock. */
const timeoutMs = 30_000;

/** Runs the `ip` of `PATH` in this process's network namespace; messages stay in English whatever the locale. */
export const runIp: RunIp = (args, input) =>
  new Promise((resolve, reject) => {
    const options = {
      timeout: timeoutMs,
      maxBuffer: maxOutput,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    };
    const child = execFile('ip', args, options, (error, stdout, stderr) => {
      if (!error) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(unusable(error.code, error));
    });
    // ip -batch leaves at the first line it cannot do; the rest of the input then has no reader.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });

function unusable(code: string | null | undefined, error: Error): Error {
  if (code !== 'ENOENT') return new Error(`ip did not end: ${error.message}`, { cause: error });
  return new Error('there is no ip command on PATH; install iproute2', { cause: error });
}
