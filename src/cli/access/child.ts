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
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => void child.kill();
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

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill();
  const force = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await gone;
  clearTimeout(force);
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
