import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { sixPrefix } from '../planning/operation.ts';
import type { Rule } from '../snapshot.ts';
import { JsonLines } from './json-elements.ts';
import {
  type AnswerReader,
  type KernelDump,
  KernelReader,
  questions,
  questions6,
  RuleReader6,
} from './kernel.ts';

/** Result of a batch: the kernel state afterwards, or the first line the kernel refused. */
export type IpAnswer =
  | { readonly seen: KernelDump }
  | { readonly failedAt: number; readonly words: string };

/** Runs `ip -batch` lines in the agent's network namespace. */
export interface Ip {
  /**
   * Stops at the first failing line. Lines with prefix `-6` come last. `ipv6` also reads IPv6 rules. Rejects if `ip`
   * cannot run or does not answer.
   */
  run(lines: readonly string[], ipv6?: boolean): Promise<IpAnswer>;
}

/**
 * Numbers instead of names, which a host may redefine in /etc/iproute2, and every attribute. With -j each answer
 * arrives at once, on a separate line.
 */
const batchArguments = ['-N', '-j', '-d', '-batch', '-'];
/**
 * Number of reads before giving up: a busy node changes links and routes during every fifth read, so ten in a row mean
 * a fault.
 */
const maxReads = 10;
/** Message from `ip`, with status 0, if an answer has missing or duplicate entries. */
const interrupted = /Dump was interrupted/;
/** Time limit in ms: `ip` waits only for the kernel's rtnl lock, so a longer run is stuck. */
const lifetimeMs = 120_000;

/**
 * Long-lived `ip` process: starting a process costs as much as configuring a NIC. A failing line ends the process; the
 * next run starts another. IPv6 rules need a second process.
 */
export class IpSession implements Ip, Disposable {
  readonly #unbound: IpKeeper<KernelDump>;
  readonly #six: IpKeeper<readonly Rule[]>;

  constructor(command = 'ip') {
    this.#unbound = new IpKeeper(command, {
      family: [],
      questions,
      reader: () => new KernelReader(),
    });
    this.#six = new IpKeeper(command, {
      family: ['-6'],
      questions: questions6,
      reader: () => new RuleReader6(),
    });
    this.#unbound.start();
  }

  async run(lines: readonly string[], ipv6 = false): Promise<IpAnswer> {
    const six = lines.filter((line) => line.startsWith(sixPrefix));
    const rest = lines.slice(0, lines.length - six.length);
    if (ipv6) this.#six.start();
    const answer = await this.#unbound.run(rest);
    if ('failedAt' in answer || !ipv6) return answer;
    const rules = await this.#six.run(six.map((line) => line.slice(sixPrefix.length)));
    if ('failedAt' in rules) return { ...rules, failedAt: rest.length + rules.failedAt };
    return { seen: { ...answer.seen, rules: [...answer.seen.rules, ...rules.seen] } };
  }

  [Symbol.dispose](): void {
    this.#unbound.end();
    this.#six.end();
  }
}

type Answer<T> = { readonly seen: T } | { readonly failedAt: number; readonly words: string };

/** Address family and queries for an `ip` process. */
interface IpQueries<T> {
  readonly family: readonly string[];
  readonly questions: readonly string[];
  readonly reader: () => AnswerReader<T>;
}

/** Keeps an `ip` process as long as the process answers. */
class IpKeeper<T> {
  readonly #command: string;
  readonly #queries: IpQueries<T>;
  #process: IpProcess<T> | undefined;

  constructor(command: string, queries: IpQueries<T>) {
    this.#command = command;
    this.#queries = queries;
  }

  /** Starts the process early, in parallel with other work. */
  start(): void {
    this.#process ??= new IpProcess(this.#command, this.#queries);
  }

  async run(lines: readonly string[]): Promise<Answer<T>> {
    const ip = this.#process ?? new IpProcess(this.#command, this.#queries);
    // Kept only after an answer: otherwise the process is gone or unreliable.
    this.#process = undefined;
    try {
      const answer = await ip.run(lines);
      if ('seen' in answer) this.#process = ip;
      return answer;
    } finally {
      if (this.#process !== ip) ip.end();
    }
  }

  end(): void {
    this.#process?.end();
    this.#process = undefined;
  }
}

type End =
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly error: Error };

class IpProcess<T> {
  readonly #queries: IpQueries<T>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines = new JsonLines(
    (text) => this.#reader.add(this.#answered, text),
    () => {
      this.#answered++;
    },
  );
  #reader: AnswerReader<T>;
  /** Number of queries answered in this read. */
  #answered = 0;
  #complaints = '';
  #linesBefore = 0;
  #changed = Promise.withResolvers<void>();
  #end: End | undefined;

  constructor(command: string, queries: IpQueries<T>) {
    this.#queries = queries;
    this.#reader = queries.reader();
    // The agent parses messages, so they must be English whatever the locale.
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
    const limits = { timeout: lifetimeMs, killSignal: 'SIGKILL' } as const;
    this.#child = spawn(command, [...queries.family, ...batchArguments], { env, ...limits });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#read(text);
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
    });
    // `ip` exits at the first failing line; nothing then reads the remaining input.
    this.#child.stdin.on('error', () => undefined);
    this.#child.on('error', (error) => this.#ended({ error }));
    this.#child.on('close', (code, signal) => this.#ended({ code, signal }));
  }

  async run(lines: readonly string[]): Promise<Answer<T>> {
    for (let reads = 0, rest = lines; reads < maxReads; reads++, rest = []) {
      const reader = await this.#ask(rest);
      if (!reader) return this.#failure(rest.length);
      // `ip` writes a complaint before the answer, but to stderr. libuv reads a pipe repeatedly within a poll, so only a poll
      // started after the answer surely sees the complaint: the second immediate follows such a poll.
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      const seen = interrupted.test(this.#complaints) ? undefined : reader.end();
      if (seen) return { seen };
      this.#complaints = '';
    }
    throw new Error(`the kernel's state changed during each of ${maxReads} reads`);
  }

  /** Returns the answers after these lines; undefined if `ip` exits early. */
  async #ask(lines: readonly string[]): Promise<AnswerReader<T> | undefined> {
    const { questions: asked } = this.#queries;
    const all = [...lines, ...asked];
    this.#child.stdin.write(`${all.join('\n')}\n`);
    while (!this.#end && this.#answered < asked.length) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    if (this.#answered < asked.length) return undefined;
    const reader = this.#reader;
    this.#reader = this.#queries.reader();
    this.#answered = 0;
    this.#linesBefore += all.length;
    return reader;
  }

  /** Closes the input: `ip` then exits by itself. */
  end(): void {
    this.#child.stdin.end();
  }

  #read(text: string): void {
    if (this.#end) return;
    try {
      this.#lines.push(text);
    } catch (error) {
      this.#ended({ error: error as Error });
      this.#child.kill('SIGKILL');
    }
    if (text.includes('\n')) this.#wake();
  }

  #ended(end: End): void {
    this.#end ??= end;
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
  }

  /** `ip -batch` ends its complaint with `Command failed -:LINE`, counted from 1 over the process's lifetime. */
  #failure(count: number): Answer<T> {
    const complaint = this.#complaints.trim();
    const line = Number(/^Command failed -:(\d+)$/m.exec(complaint)?.[1] ?? 0);
    const failedAt = line - 1 - this.#linesBefore;
    if (failedAt >= 0 && failedAt < count) {
      return { failedAt, words: complaint.replaceAll(/^Command failed -:\d+$/gm, '').trim() };
    }
    const end = this.#end ?? { code: null, signal: null };
    if ('error' in end) throw unusable(end.error);
    if (end.code !== null) throw new Error(`ip exited with code ${end.code}: ${complaint}`);
    // Killed by our time limit, by the kernel when out of memory, or by an operator.
    throw new Error(this.#child.killed ? silence : `ip was killed by ${end.signal}`);
  }
}

const silence = `ip did not answer within ${lifetimeMs / 1000} s`;

function unusable(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOENT') return error;
  return new Error('there is no ip command on PATH; install iproute2', { cause: error });
}
