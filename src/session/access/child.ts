import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Limit, withDeadline } from '../../time/deadline.ts';

/** A started child process. It never outlives this process. */
export interface Child extends AsyncDisposable {
  /** Match of the line that reports the child's readiness. */
  readonly ready: RegExpExecArray;
}

export interface ChildOptions {
  /** Line on standard output that reports readiness. */
  readonly ready: RegExp;
  readonly limit: ChildLimit;
}

/** Time limit for the start; the signal ends the child. */
export type ChildLimit = Limit & { readonly signal: AbortSignal };

/** Error: the program is not installed. */
export class NoSuchProgram extends Error {}

/** Starts a program and waits until ready. Throws with the child's standard error if the child ends, DeadlineReached at the limit. */
export async function startChild(
  program: string,
  argv: readonly string[],
  { ready, limit }: ChildOptions,
): Promise<Child> {
  const { signal } = limit;
  signal.throwIfAborted();
  // A process group of its own: a wrapper script or an exec plugin ends together with kubectl.
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const kill = () => killGroup(child, 'SIGTERM');
  process.once('exit', kill);
  signal.addEventListener('abort', kill, { once: true });
  async function dispose(): Promise<void> {
    process.off('exit', kill);
    signal.removeEventListener('abort', kill);
    await ended(child);
  }
  try {
    const match = await withDeadline(limit, () => readyLine(child, program, ready));
    return { ready: match, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Ends the child's process group. Resolves even if a process of another group keeps the child's output open. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    killGroup(child, 'SIGTERM');
    const force = setTimeout(() => killGroup(child, 'SIGKILL'), 2_000);
    await gone;
    clearTimeout(force);
  }
  killGroup(child, 'SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function killGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group has ended; macOS answers EPERM for a group with only zombies.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

function readyLine(child: ChildProcess, program: string, ready: RegExp): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4_096);
    const match = ready.exec(output);
    if (match) resolve(match);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_096);
  });
  child.on('error', (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ENOENT' ? new NoSuchProgram(`${program} is not installed`) : error),
  );
  // `close` follows the last byte of standard error.
  child.on('close', () => reject(new Error(lastLine(errors) || `${program} ended`)));
  return promise;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
