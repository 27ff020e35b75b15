import { parse } from 'yaml';
import type { Health } from '../process/health.ts';
import type { Logger } from '../process/log.ts';
import { UnusableSettingError } from '../process/unusable-setting.ts';
import type { Clock } from '../time/clock.ts';
import { HttpProblem } from './problem.ts';
import { isMissing, readTokenTexts, type TokenText } from './token-texts.ts';
import { type Grant, grants } from './who-may.ts';

/** Reads the grants at each use, so that a token can be added or withdrawn without a restart. */
export interface TokenFile {
  current(): Promise<readonly Grant[]>;
}

export interface TokenFileOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly health: Pick<Health, 'ready'>;
  /** Told at each use whether the file could be used. */
  readonly onRead?: (usable: boolean) => void;
  /** Who makes the file, for whoever finds it missing at the start. */
  readonly madeBy?: string;
}

/**
 * How long the last good grants hold while the file is gone or broken: whoever replaces it may be seen halfway. After
 * that nobody gets in, for nobody knows any more whose token was withdrawn.
 */
export const tokenGraceMs = 30_000;

/** Since when, on the clock that never jumps, something cannot be used, and why. */
interface Broken {
  readonly since: number;
  readonly why: string;
}

/** What one file grants; of one that is broken, what it granted before. */
interface Held {
  readonly text: string;
  readonly granted: readonly Grant[];
  readonly broken?: Broken;
}

/**
 * Opens a token file (YAML list of name, sha256, providers, verbs) or a folder of them. Throws when nothing of it can be used
 * at the start. What goes bad later, a file of a folder or all of it, grants nothing after `tokenGraceMs` until it is good
 * again; when nothing is left the process is not ready, and every call is answered 503.
 */
export async function openTokenFile(path: string, options: TokenFileOptions): Promise<TokenFile> {
  const { clock, log, health, onRead } = options;
  let held: ReadonlyMap<string, Held> = new Map();
  let unread: Broken | undefined;

  function take(texts: readonly TokenText[]): void {
    const before = held;
    held = new Map(texts.map((one) => [one.path, heldOf(one, before.get(one.path), clock)]));
    for (const [file, { broken }] of held) {
      if (broken && broken.why !== before.get(file)?.broken?.why) {
        log.error({ path: file, why: broken.why }, 'token file cannot be used');
      }
    }
    if (held.size === before.size && [...held].every(([file, one]) => before.get(file) === one))
      return;
    const all = [...held.values()].flatMap(({ granted }) => granted);
    log.info({ path, grants: all.length }, 'token file read');
  }

  async function look(): Promise<void> {
    try {
      take(await readTokenTexts(path));
      unread = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (unread?.why !== why) log.error({ path, err: error }, 'token file cannot be used');
      unread = { since: unread?.since ?? clock.monotonicMs(), why };
    }
    onRead?.(unread === undefined && ![...held.values()].some(({ broken }) => broken));
  }

  /** Why nothing of it can be used. */
  function whyNone(): string | undefined {
    if (unread) return unread.why;
    const all = [...held.values()];
    return all.every(({ broken }) => broken) ? all[0]?.broken?.why : undefined;
  }

  const holds = (broken: Broken | undefined) =>
    broken === undefined || clock.monotonicMs() - broken.since < tokenGraceMs;

  take(await firstTexts(path, options));
  const flaw = whyNone();
  if (flaw !== undefined) throw new UnusableSettingError(flaw);
  health.ready('tokens', () => {
    void look(); // what a probe finds is told by the next one; calls look for themselves
    const why = whyNone();
    return why && `token file ${path} cannot be used: ${why}`;
  });

  return {
    async current() {
      await look();
      const usable = holds(unread) ? [...held.values()].filter(({ broken }) => holds(broken)) : [];
      if (usable.length > 0) return usable.flatMap(({ granted }) => granted);
      const detail = 'the token file of this server cannot be used; its log says why';
      throw new HttpProblem(503, 'TokensUnavailable', detail, { retryAfterSeconds: 5 });
    },
  };
}

function heldOf(file: TokenText, before: Held | undefined, clock: Clock): Held {
  const { text } = file;
  if (before?.text === text) return before;
  try {
    return { text, granted: grantsIn(file) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const since = before?.broken?.since ?? clock.monotonicMs();
    return { text, granted: before?.granted ?? [], broken: { since, why } };
  }
}

async function firstTexts(
  path: string,
  { madeBy = 'make it as docs/guides/access.md says' }: TokenFileOptions,
): Promise<readonly TokenText[]> {
  try {
    return await readTokenTexts(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new UnusableSettingError(`token file ${path} is not there: ${madeBy}`, { cause: error });
  }
}

function grantsIn({ path, text }: TokenText): readonly Grant[] {
  const parsed = grants.safeParse(yamlIn(path, text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new UnusableSettingError(`token file ${path}: ${problems.join('; ')}`);
}

function yamlIn(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new UnusableSettingError(`token file ${path}: ${String(error)}`, { cause: error });
  }
}
