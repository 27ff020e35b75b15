import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Limit, withDeadline } from '../../time/deadline.ts';

/** A started child process. It never outlives this process. */
export interface Child extends AsyncDisposable {
  /** Match of the line that reports the child's readiness. */
  readonly ready: RegExpExecArray;
  /** Resolves when the child has ended, with the last line of its standard error. */
  readonly ended: Promise<Error>;
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
    await end(child);
  }
  try {
    const { match, ended } = outputOf(child, program, ready);
    return { ready: await withDeadline(limit, () => match), ended, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Ends the child's process group. Resolves even if a process of another group keeps the child's output open. */
async function end(child: ChildProcess): Promise<void> {
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

/** Longest wait for output after the child's exit (ms). */
const outputMs = 1_000;

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

/** Returns the match for readiness, and the reason for the child's end. */
function outputOf(child: ChildProcess, program: string, ready: RegExp) {
  const { promise: match, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const ending = Promise.withResolvers<Error>();
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4_096);
    const found = ready.exec(output);
    if (found) resolve(found);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4_096);
  });
  const onEnd = () => {
    const error = new Error(lastLine(errors) || `${program} ended`);
    reject(error);
    ending.resolve(error);
  };
  child.on('error', (error: NodeJS.ErrnoException) => {
    reject(error.code === 'ENOENT' ? new NoSuchProgram(`${program} is not installed`) : error);
    ending.resolve(error);
  });
  // `close` follows the last byte of standard error, unless a process in a foreign group holds the output open.
  child.on('close', onEnd);
  child.on('exit', () => void setTimeout(onEnd, outputMs).unref());
  return { match, ended: ending.promise };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
