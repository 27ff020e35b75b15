import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { JsonLines } from './observe/json-elements.ts';
import {
  type AnswerReader,
  type KernelDump,
  KernelReader,
  questions,
  questions6,
  RuleReader6,
} from './observe/kernel.ts';
import { sixPrefix } from './planning/operation.ts';
import type { Rule } from './snapshot.ts';

/** What a run of lines led to: the kernel's state after them, or the first line that the kernel refused. */
export type IpAnswer =
  | { readonly seen: KernelDump }
  | { readonly failedAt: number; readonly words: string };

/** Does lines of `ip -batch` in the agent's network namespace. */
export interface Ip {
  /**
   * Stops at the first line that fails. Lines that begin with `-6` come last. `ipv6` asks for rules of IPv6 too. Rejects when
   * `ip` cannot be run or does not answer.
   */
  run(lines: readonly string[], ipv6?: boolean): Promise<IpAnswer>;
}

/**
 * Numbers instead of names, which a host may redefine in /etc/iproute2, and every attribute. With -j each answer is on the
 * pipe at once, on a line of its own.
 */
const batchArguments = ['-N', '-j', '-d', '-batch', '-'];
/** A busy node changes its links and routes in every fifth look; ten in a row say that something is wrong. */
const maxLooks = 10;
/** What `ip` says, with status 0, of an answer that misses something or has it twice. */
const interrupted = /Dump was interrupted/;
/** `ip` waits for nothing but the kernel's rtnl lock; a run that takes longer than this is stuck. */
const lifetimeMs = 120_000;

/**
 * One `ip` that is asked again and again: starting a process costs as much as configuring a NIC. It ends at a line that
 * fails; the next run starts another. Rules of IPv6 take a second one.
 */
export class IpSession implements Ip, Disposable {
  readonly #unbound: Speaker<KernelDump>;
  readonly #six: Speaker<readonly Rule[]>;

  constructor(command = 'ip') {
    this.#unbound = new Speaker(command, {
      family: [],
      questions,
      reader: () => new KernelReader(),
    });
    this.#six = new Speaker(command, {
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

/** What is asked of an `ip`, and of which family it is. */
interface Language<T> {
  readonly family: readonly string[];
  readonly questions: readonly string[];
  readonly reader: () => AnswerReader<T>;
}

/** A process as long as it answers. */
class Speaker<T> {
  readonly #command: string;
  readonly #language: Language<T>;
  #process: IpProcess<T> | undefined;

  constructor(command: string, language: Language<T>) {
    this.#command = command;
    this.#language = language;
  }

  /** Made first, a process starts while others have work to do. */
  start(): void {
    this.#process ??= new IpProcess(this.#command, this.#language);
  }

  async run(lines: readonly string[]): Promise<Answer<T>> {
    const ip = this.#process ?? new IpProcess(this.#command, this.#language);
    // Kept only when it has answered: whatever else happened, it is gone or cannot be trusted.
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
  readonly #language: Language<T>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines = new JsonLines(
    (text) => this.#reader.add(this.#answered, text),
    () => {
      this.#answered++;
    },
  );
  #reader: AnswerReader<T>;
  /** Questions of this look whose answers are read. */
  #answered = 0;
  #complaints = '';
  #linesBefore = 0;
  #changed = Promise.withResolvers<void>();
  #end: End | undefined;

  constructor(command: string, language: Language<T>) {
    this.#language = language;
    this.#reader = language.reader();
    // Messages are read, so they stay in English whatever the locale.
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
    const limits = { timeout: lifetimeMs, killSignal: 'SIGKILL' } as const;
    this.#child = spawn(command, [...language.family, ...batchArguments], { env, ...limits });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#read(text);
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
    });
    // It leaves at the first line that fails; the rest of the input then has no reader.
    this.#child.stdin.on('error', () => undefined);
    this.#child.on('error', (error) => this.#ended({ error }));
    this.#child.on('close', (code, signal) => this.#ended({ code, signal }));
  }

  async run(lines: readonly string[]): Promise<Answer<T>> {
    for (let looks = 0, rest = lines; looks < maxLooks; looks++, rest = []) {
      const reader = await this.#ask(rest);
      if (!reader) return this.#failure(rest.length);
      // What was complained of was written before the answer, but comes by another pipe.
      await new Promise((resolve) => setImmediate(resolve));
      const seen = interrupted.test(this.#complaints) ? undefined : reader.end();
      if (seen) return { seen };
      this.#complaints = '';
    }
    throw new Error(`the kernel's state changed during each of ${maxLooks} looks at it`);
  }

  /** The answers to the questions after these lines; undefined when `ip` ended before it had all. */
  async #ask(lines: readonly string[]): Promise<AnswerReader<T> | undefined> {
    const { questions: asked } = this.#language;
    const all = [...lines, ...asked];
    this.#child.stdin.write(`${all.join('\n')}\n`);
    while (!this.#end && this.#answered < asked.length) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    if (this.#answered < asked.length) return undefined;
    const reader = this.#reader;
    this.#reader = this.#language.reader();
    this.#answered = 0;
    this.#linesBefore += all.length;
    return reader;
  }

  /** It leaves by itself once its input has ended. */
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

  /** `ip -batch` ends its complaint with `Command failed -:LINE`, counted from 1 over its whole life. */
  #failure(count: number): Answer<T> {
    const said = this.#complaints.trim();
    const line = Number(/^Command failed -:(\d+)$/m.exec(said)?.[1] ?? 0);
    const failedAt = line - 1 - this.#linesBefore;
    if (failedAt >= 0 && failedAt < count) {
      return { failedAt, words: said.replaceAll(/^Command failed -:\d+$/gm, '').trim() };
    }
    const end = this.#end ?? { code: null, signal: null };
    if ('error' in end) throw unusable(end.error);
    if (end.code !== null) throw new Error(`ip ended with ${end.code}: ${said}`);
    // Ended by our own time limit, or by others: the kernel out of memory, an operator.
    throw new Error(this.#child.killed ? silence : `ip was ended by ${end.signal}`);
  }
}

const silence = `ip did not answer within ${lifetimeMs / 1000} s`;

function unusable(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOENT') return error;
  return new Error('there is no ip command on PATH; install iproute2', { cause: error });
}
