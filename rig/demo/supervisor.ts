import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../src/process/clock.ts';

export interface ChildSpec {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves once the child serves; rejects when it never will. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
}

interface Child {
  readonly name: string;
  readonly child: ChildProcess;
  readonly log: WriteStream;
  readonly ended: Promise<string>;
}

/** How long a child may take to stop after SIGTERM before it is killed. */
const graceMs = 8000;

/** Keeps one child process per part: logs to files, notices an unexpected end, stops all of them in reverse order. */
export class Supervisor implements AsyncDisposable {
  readonly #children: Child[] = [];
  readonly #failed = new AbortController();
  readonly #directory: string;
  readonly #clock: Clock;
  #stopping = false;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Aborts with a sentence when a child ends that should run. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Starts a child and waits until it is ready. */
  async start({ name, command: [program, ...args], env = {}, ready }: ChildSpec): Promise<void> {
    const path = join(this.#directory, `${name}.log`);
    const log = createWriteStream(path);
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C reaches the supervisor alone, which then stops the parts in order.
      detached: true,
    });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`cannot start: ${error.message}`));
      child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `status ${code}`}`));
    });
    this.#children.push({ name, child, log, ended });
    void ended.then((how) => this.#onEnd(name, how, path));
    await ready(this.failed);
  }

  async #onEnd(name: string, how: string, path: string): Promise<void> {
    if (this.#stopping || this.#failed.signal.aborted) return;
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n').slice(-5);
    this.#failed.abort(new Error(`${name} ${how}; its last words (${path}):\n${lines.join('\n')}`));
  }

  /** SIGTERM to all, last started first; SIGKILL to what does not end in time. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    for (const started of this.#children.toReversed()) await this.#stop(started);
  }

  async #stop({ child, ended, log }: Child): Promise<void> {
    const gone = new AbortController();
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      child.kill('SIGTERM');
      void this.#clock.sleep(graceMs, gone.signal).then(
        () => child.kill('SIGKILL'),
        () => undefined,
      );
    }
    await ended;
    gone.abort(new Error('ended'));
    log.end();
  }
}
