import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Where a command is run: a person's folder and environment. */
export interface Shell {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Network namespace whose loopback is used; missing: that of this machine. */
  readonly netns?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

/** A command that is at work; disposing of it ends it and what it has started. */
export interface AtWork extends AsyncDisposable {
  readonly ended: Promise<Ended>;
  /** Resolves when its output matches; throws when it ends before. */
  until(pattern: RegExp): Promise<void>;
}

/** Starts a script as a reader has it: it stops at the first command that fails. */
export function start({ cwd, env, netns }: Shell, script: string, stdin = ''): AtWork {
  // Its input is a socket, which bash takes for a login from elsewhere: it would read the machine's settings.
  const bash = ['bash', '--norc', '-euo', 'pipefail', '-c', script];
  const [program = '', ...args] =
    netns === undefined ? bash : ['/usr/bin/nsenter', `--net=/run/netns/${netns}`, ...bash];
  // A process group of its own: a shell's children do not end with it.
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

/** Runs a script to its end; a failure says all that it wrote. */
export async function run(shell: Shell, script: string, stdin?: string): Promise<Ended> {
  const ended = await start(shell, script, stdin).ended;
  if (ended.code !== 0) throw new Error(`${script}\nended with ${ended.code}: ${ended.output}`);
  return ended;
}
