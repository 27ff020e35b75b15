import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import * as z from 'zod';
import type { Query } from './lookups.ts';
import { type PolicyRule, readPolicyRule } from './rules.ts';

/** Why no packet leaves: the deciding route's type, or no route at all. */
type Refused = 'unreachable' | 'prohibited' | 'blackhole' | 'no route';

/** The kernel's answer to a route lookup. */
export type Answer =
  | { readonly kind: 'link'; readonly link: string; readonly table: number; readonly via?: string }
  /** The destination is an address of this host. */
  | { readonly kind: 'local' }
  | { readonly kind: 'refused'; readonly why: Refused };

/** Answers to lookups; nothing is sent on the network. */
export interface PathAnswers {
  /** In the order of the lookups; undefined: unknown. */
  readonly answers: readonly (Answer | undefined)[];
  /** Neighbours without an answer to the kernel's last requests. */
  readonly silent: readonly { readonly ip: string; readonly link: string }[];
}

/** Reads paths from the kernel. */
export interface PathReader {
  /** Starts `ip` for the next lookups, in parallel with other work: the start costs as much as 40 lookups. */
  start(): void;
  /** Returns undefined if `ip` cannot run or does not end in time. */
  lookUp(queries: readonly Query[]): Promise<PathAnswers | undefined>;
  /** Returns the family's policy rules with all selectors; undefined as in `lookUp`. */
  rules(family: 4 | 6): Promise<readonly PolicyRule[] | undefined>;
  /** Ends an unused process. */
  end(): void;
}

/** Time limit in ms: the kernel answers 1,000 lookups in 30 ms. */
const lifetimeMs = 5_000;

/** Reads paths by an `ip` process per batch: with `-force` a failing line does not end the batch. */
export function pathReader(command = 'ip', timeoutMs = lifetimeMs): PathReader {
  let next: Batch | undefined;
  const batch = (...family: readonly string[]) => new Batch(command, family);
  return {
    start() {
      next ??= batch();
    },
    async lookUp(queries) {
      const started = next ?? batch();
      next = undefined;
      const lines = [...queries.map(queryLine), 'neigh show nud failed'];
      const output = await started.run(lines, timeoutMs);
      return output && read(output, queries.length);
    },
    async rules(family) {
      const output = await batch(family === 4 ? '-4' : '-6').run(['rule show'], timeoutMs);
      return output && orUndefined(() => jsonLines(output.stdout).flat().map(readPolicyRule));
    },
    end() {
      next?.end();
      next = undefined;
    },
  };
}

/** Returns the arguments of `ip` for a lookup. */
export function queryLine({ to, from }: Query): string {
  return `route get ${to}${from === undefined ? '' : ` from ${from}`}`;
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Process of `ip` for one batch. */
class Batch {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended = Promise.withResolvers<Output | undefined>();
  #stdout = '';
  #stderr = '';

  constructor(command: string, family: readonly string[]) {
    // The agent parses messages: English in any locale.
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
    this.#child = spawn(command, [...family, ...batchArguments], { env });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child.stdin.on('error', () => undefined);
    this.#child.on('error', () => this.#ended.resolve(undefined));
    // With -force the exit status is 1 after any failing line.
    this.#child.on('close', (code) => {
      const output = { stdout: this.#stdout, stderr: this.#stderr };
      this.#ended.resolve(code === null ? undefined : output);
    });
  }

  /** Returns the output; undefined after the time limit. */
  async run(lines: readonly string[], timeoutMs: number): Promise<Output | undefined> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs);
    this.#child.stdin.end(`${lines.join('\n')}\n`);
    try {
      return await this.#ended.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the input: `ip` then exits by itself. */
  end(): void {
    this.#child.stdin.end();
  }
}

const batchArguments = ['-N', '-d', '-j', '-force', '-batch', '-'];

const answerEntry = z.object({
  type: z.coerce.number().default(1),
  dev: z.string().optional(),
  gateway: z.string().optional(),
  table: z.coerce.number().default(254),
});

const neighbourEntry = z.object({ dst: z.string(), dev: z.string() });

const routeTypes = { local: 2, blackhole: 6, unreachable: 7, prohibit: 8 } as const;

/** Reads a batch's answers: a successful line prints a JSON line, a failing line a complaint with the line number. */
export function read({ stdout, stderr }: Output, count: number): PathAnswers | undefined {
  return orUndefined(() => {
    const complaints = complaintsIn(stderr);
    const printed = jsonLines(stdout);
    let at = 0;
    const answers = Array.from({ length: count }, (_, index) => {
      const complaint = complaints.get(index + 1);
      return complaint === undefined ? answerOf(printed[at++]) : refusalIn(complaint);
    });
    const silent = (printed[at] ?? []).map((entry) => {
      const { dst, dev } = neighbourEntry.parse(entry);
      return { ip: dst, link: dev };
    });
    return { answers, silent };
  });
}

function jsonLines(text: string): unknown[][] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => z.array(z.unknown()).parse(JSON.parse(line)));
}

/** Returns the complaints by line number; `ip` ends each with `Command failed -:LINE`. */
function complaintsIn(stderr: string): Map<number, string> {
  const parts = stderr.split(/^Command failed -:(\d+)$/m);
  const complaints = new Map<number, string>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    complaints.set(Number(parts[at + 1]), parts[at] ?? '');
  }
  return complaints;
}

function answerOf(line: readonly unknown[] | undefined): Answer | undefined {
  if (line?.[0] === undefined) return undefined;
  const { type, dev, gateway, table } = answerEntry.parse(line[0]);
  if (type === routeTypes.local) return { kind: 'local' };
  if (type === routeTypes.unreachable) return { kind: 'refused', why: 'unreachable' };
  if (type === routeTypes.blackhole) return { kind: 'refused', why: 'blackhole' };
  if (type === routeTypes.prohibit) return { kind: 'refused', why: 'prohibited' };
  if (dev === undefined) return undefined;
  return { kind: 'link', link: dev, table, ...(gateway ? { via: gateway } : {}) };
}

/** Errors of a lookup: the kernel returns the deciding rule's or route's type as an error number. */
const errors: readonly (readonly [RegExp, Refused])[] = [
  [/No route to host/, 'unreachable'],
  [/Permission denied/, 'prohibited'],
  [/Invalid argument/, 'blackhole'],
  [/Network is unreachable/, 'no route'],
];

function refusalIn(complaint: string): Answer | undefined {
  const [, why] = errors.find(([words]) => words.test(complaint)) ?? [];
  return why && { kind: 'refused', why };
}

/** Returns undefined for output of an unknown form: unknown paths are no verdict. */
function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
