import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, openSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../src/time/clock.ts';
import { waitFor } from './waiting.ts';

export interface ChildSpec {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves once the child serves; rejects when it never will. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
}

interface Child {
  readonly spec: ChildSpec;
  readonly process: ChildProcess;
  readonly ended: Promise<string>;
  /** Whether its end is wanted. */
  leaving: boolean;
}

/** How long a child may take to stop after SIGTERM before it is killed. */
const graceMs = 8000;

/** Keeps child processes: logs to files, notices an unexpected end, stops all of them in reverse order. */
export class Supervisor implements AsyncDisposable {
  readonly #children = new Map<string, Child>();
  readonly #failed = new AbortController();
  readonly #stopping = new AbortController();
  readonly #directory: string;
  readonly #clock: Clock;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Aborts with a sentence when a child ends that should run. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Path of a child's log. */
  logOf(name: string): string {
    return join(this.#directory, `${name}.log`);
  }

  /** Starts a child and waits until it is ready. */
  async start(spec: ChildSpec): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const [program, ...args] = spec.command;
    // Opened at once: whoever asks for its last words may come before a stream has opened its file.
    const path = this.logOf(spec.name);
    const log = createWriteStream(path, { fd: openSync(path, 'a') });
    const child = spawn(program, args, {
      env: { ...process.env, ...spec.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C reaches the supervisor alone, which then stops the parts in order.
      detached: true,
    });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    // After `exit` the pipes may still hold output.
    child.once('close', () => log.end());
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`cannot start: ${error.message}`));
      child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `status ${code}`}`));
    });
    const started: Child = { spec, process: child, ended, leaving: false };
    this.#children.set(spec.name, started);
    void ended.then((how) => this.#onEnd(started, how));
    await spec.ready(AbortSignal.any([this.failed, this.#stopping.signal]));
  }

  /** Resolves when the child writes `text` into its log from now on. */
  async logged(name: string, text: string): Promise<void> {
    const { size } = await stat(this.logOf(name));
    await waitFor(
      `"${text}" in the log of ${name}`,
      async () => {
        const written = await readFile(this.logOf(name));
        return written.subarray(size).includes(text) ? true : undefined;
      },
      { clock: this.#clock, signal: this.failed, pollMs: 5 },
    );
  }

  /** Process id of a child. */
  pidOf(name: string): number {
    const { pid } = this.#childOf(name).process;
    if (pid === undefined) throw new Error(`${name} was not started`);
    return pid;
  }

  /** SIGKILL, as a crash would; the child is gone when this resolves. */
  async kill(name: string): Promise<void> {
    const child = this.#childOf(name);
    child.leaving = true;
    child.process.kill('SIGKILL');
    await child.ended;
  }

  /** Starts a child that has ended again as it was started before, but for its environment, and waits until it is ready. */
  async restart(name: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const { spec } = this.#childOf(name);
    await this.start({ ...spec, env: { ...spec.env, ...env } });
  }

  /** SIGTERM; resolves when the child has ended. */
  async stop(name: string): Promise<void> {
    await this.#stop(this.#childOf(name));
  }

  /** From now on the child may end by itself; resolves to how it did. */
  ending(name: string): Promise<string> {
    const child = this.#childOf(name);
    child.leaving = true;
    return child.ended;
  }

  /** SIGTERM to all, last started first; SIGKILL to what does not end in time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error('everything is being stopped'));
    for (const child of [...this.#children.values()].toReversed()) await this.#stop(child);
  }

  #childOf(name: string): Child {
    const child = this.#children.get(name);
    if (!child) throw new Error(`no child ${name} was started`);
    return child;
  }

  async #onEnd({ spec: { name }, leaving }: Child, how: string): Promise<void> {
    if (leaving || this.#failed.signal.aborted) return;
    const lines = (await readFile(this.logOf(name), 'utf8')).trimEnd().split('\n').slice(-5);
    const words = `its last words (${this.logOf(name)}):\n${lines.join('\n')}`;
    this.#failed.abort(new Error(`${name} ${how}; ${words}`));
  }

  async #stop(child: Child): Promise<void> {
    child.leaving = true;
    const gone = new AbortController();
    const { exitCode, signalCode, pid } = child.process;
    if (exitCode === null && signalCode === null && pid !== undefined) {
      child.process.kill('SIGTERM');
      void this.#clock.sleep(graceMs, gone.signal).then(
        () => child.process.kill('SIGKILL'),
        () => undefined,
      );
    }
    await child.ended;
    gone.abort(new Error('ended'));
  }
}
