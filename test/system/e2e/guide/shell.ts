import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Where a command is run: a person's folder and environment. */
export interface Shell {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Network namespace of the loopback; undefined: this machine's. */
  readonly netns?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  /** Interleaved standard output and standard error. */
  readonly output: string;
}

/** A running command; disposing ends the command with all children. */
export interface AtWork extends AsyncDisposable {
  readonly ended: Promise<Ended>;
  /** Resolves when the output matches; throws when the command ends first. */
  until(pattern: RegExp): Promise<void>;
}

/** Starts a script like a reader: the script stops at the first failed command. */
export function start({ cwd, env, netns }: Shell, script: string, stdin = ''): AtWork {
  // Standard input is a socket. bash would take a socket for a remote login and read the machine's profile.
  const bash = ['bash', '--norc', '-euo', 'pipefail', '-c', script];
  const [program = '', ...args] =
    netns === undefined ? bash : ['/usr/bin/nsenter', `--net=/run/netns/${netns}`, ...bash];
  // A separate process group: a shell's children do not end with the shell.
  const child = spawn(program, args, { cwd, env, detached: true });
  const written = { stdout: '', output: '' };
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      written.output += piece;
      if (stream === child.stdout) written.stdout += piece;
      for (const look of waiting) look();
    });
  }
  child.stdin.on('error', () => undefined).end(stdin);
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, ...written }));

  async function until(pattern: RegExp): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (pattern.test(written.output)) resolve();
    };
    waiting.add(look);
    look();
    const early = ended.then(({ output }) => {
      if (!pattern.test(output)) throw new Error(`${script} ended: ${output}`);
    });
    await Promise.race([promise, early]);
  }
  return {
    ended,
    until,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
}

/** Runs a script to the end; an error has the complete output. */
export async function run(shell: Shell, script: string, stdin?: string): Promise<Ended> {
  const ended = await start(shell, script, stdin).ended;
  if (ended.code !== 0) throw new Error(`${script}\nended with ${ended.code}: ${ended.output}`);
  return ended;
}
