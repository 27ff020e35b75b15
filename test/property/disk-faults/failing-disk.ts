import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';

const faults = ['SIGKILL', 'ENOSPC', 'EIO', 'EROFS'] as const;
export type Fault = (typeof faults)[number];

/** One call of a run that changes the host, counted from 0. */
export interface Moment {
  readonly call: Call;
  /** The file's name, or the line of `ip`. */
  readonly on: string;
}

type Call =
  | 'create'
  | 'write'
  | 'open'
  | 'rename'
  | 'link'
  | 'unlink'
  | 'mkdir'
  | 'truncate'
  | 'fsync'
  | 'sysctl'
  | 'ip';

/** What of a disk can fail in which way. */
const failing: Readonly<Record<Exclude<Fault, 'SIGKILL'>, ReadonlySet<Call>>> = {
  // Names can go, and a name can take the place of another one.
  ENOSPC: new Set(['create', 'write', 'open', 'link', 'mkdir', 'fsync']),
  EIO: new Set([
    'create',
    'write',
    'open',
    'rename',
    'link',
    'unlink',
    'mkdir',
    'truncate',
    'fsync',
  ]),
  // A file that is open is written on, and what was written is brought down.
  EROFS: new Set(['create', 'open', 'rename', 'link', 'unlink', 'mkdir', 'truncate']),
};
/** A disk that is full or read-only is so for the next call too. */
const lasting: ReadonlySet<Fault> = new Set(['ENOSPC', 'EROFS']);

export interface Plan {
  /** Number of the moment. */
  readonly at: number;
  readonly fault: Fault;
}

/** All that can be done to a run with these moments. */
export function plansOf(moments: readonly Moment[]): Plan[] {
  return [...moments.entries()].flatMap(([at, moment]) =>
    faults.filter((fault) => canFail(moment, fault)).map((fault) => ({ at, fault })),
  );
}

function canFail({ call }: Moment, fault: Fault): boolean {
  return fault === 'SIGKILL' || failing[fault].has(call);
}

const { renameSync, linkSync, unlinkSync, truncateSync, mkdirSync, existsSync } = fs;
const { writeFileSync, writeSync, openSync, closeSync, fsync } = fs;
const files = { renameSync, linkSync, unlinkSync, truncateSync, writeFileSync };
const real = { ...files, mkdirSync, openSync, fsync };

/**
 * The disk below a directory, of which one call fails. What was killed can do nothing any more: every later call fails too,
 * and whatever the process makes of that, it is as if it were not there.
 */
export class FailingDisk implements Disposable {
  readonly moments: Moment[] = [];
  readonly #root: string;
  readonly #plan: Plan | undefined;
  /** Path by descriptor. */
  readonly #open = new Map<number, string>();
  #hit = false;

  constructor(root: string, plan?: Plan) {
    this.#root = root;
    this.#plan = plan;
    Object.assign(fs, this.#calls());
    syncBuiltinESMExports();
  }

  /** Whether it came to the call that fails. */
  get hit(): boolean {
    return this.#hit;
  }

  /** A line of `ip` is about to be done. Throws when it is not to be. */
  line(line: string): void {
    this.#moment('ip', line);
  }

  /** Does what is no doing of the process. */
  aside<T>(act: () => T): T {
    Object.assign(fs, real);
    syncBuiltinESMExports();
    try {
      return act();
    } finally {
      Object.assign(fs, this.#calls());
      syncBuiltinESMExports();
    }
  }

  [Symbol.dispose](): void {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }

  #calls(): Partial<typeof fs> {
    const guarded = <A extends unknown[], R>(call: Call, act: (path: string, ...rest: A) => R) => {
      return (path: string, ...rest: A): R => {
        if (this.#isHost(path)) this.#moment(call, basename(path));
        return act(path, ...rest);
      };
    };
    return {
      renameSync: guarded('rename', renameSync),
      linkSync: guarded('link', linkSync),
      unlinkSync: guarded('unlink', unlinkSync),
      truncateSync: guarded('truncate', truncateSync),
      mkdirSync: this.#mkdir,
      writeFileSync: this.#write,
      openSync: this.#openFile,
      fsync: this.#sync,
    } as Partial<typeof fs>;
  }

  readonly #mkdir = (path: string, options?: fs.MakeDirectoryOptions) => {
    if (this.#isHost(path) && !existsSync(path)) this.#moment('mkdir', basename(path));
    return mkdirSync(path, options);
  };

  readonly #write = (path: string, text: string, options: fs.WriteFileOptions = {}): void => {
    if (!this.#isHost(path)) return writeFileSync(path, text, options);
    const name = basename(path);
    const isSetting = path.startsWith(join(this.#root, 'proc'));
    this.#moment(isSetting ? 'sysctl' : 'create', name);
    if (isSetting) return writeFileSync(path, text);
    const { flag = 'w', mode } = options as { flag?: string; mode?: number };
    const descriptor = openSync(path, flag, mode);
    try {
      // It fails, or the process ends, when half of it is there.
      const half = Math.floor(text.length / 2);
      writeSync(descriptor, text.slice(0, half));
      this.#moment('write', name);
      writeSync(descriptor, text.slice(half));
    } finally {
      closeSync(descriptor);
    }
  };

  readonly #openFile = (path: string, flags: string | number, mode?: number): number => {
    const writes = flags !== 'r';
    if (writes && this.#isHost(path) && !existsSync(path)) this.#moment('open', basename(path));
    const descriptor = openSync(path, flags, mode);
    this.#open.set(descriptor, path);
    return descriptor;
  };

  readonly #sync = (descriptor: number, done: (error: Error | null) => void): void => {
    const path = this.#open.get(descriptor) ?? '';
    try {
      if (this.#isHost(path)) this.#moment('fsync', basename(path));
      // What a power cut leaves is another matter; a process that is killed loses nothing it has written.
      done(null);
    } catch (error) {
      done(error as Error);
    }
  };

  /** Without what the run itself is given and says. */
  #isHost(path: string): boolean {
    return ['etc', 'var', 'proc'].some((top) => path.startsWith(join(this.#root, top)));
  }

  #moment(call: Call, on: string): void {
    const moment = { call, on };
    const at = this.moments.push(moment) - 1;
    const plan = this.#plan;
    if (!plan) return;
    const { fault } = plan;
    const now = at === plan.at;
    if (now) this.#hit = true;
    if (now || (this.#hit && fault === 'SIGKILL')) throw failure(fault, moment);
    if (this.#hit && lasting.has(fault) && canFail(moment, fault)) throw failure(fault, moment);
  }
}

function failure(code: string, { call, on }: Moment): Error {
  return Object.assign(new Error(`${code}: ${call} ${on}`), { code });
}
