import { execFile } from 'node:child_process';

export interface Output {
  /** Exit status; 128 + the signal's number for a command that was killed, as a shell says it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const killed = 137;

/** Runs a command; resolves whatever its exit status is, rejects when it could not run or did not end. */
export function run(command: string, args: readonly string[], input = ''): Promise<Output> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (!error) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else if (error.signal === 'SIGKILL') resolve({ code: killed, stdout, stderr });
      else reject(error);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** Runs `ip` and returns what it printed; throws with its complaint. */
export async function ip(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await run('ip', args, input);
  if (code === 0) return stdout;
  throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`);
}
