import { parse } from 'yaml';
import type { Health } from '../process/health.ts';
import type { Logger } from '../process/log.ts';
import { UnusableSettingError } from '../process/unusable-setting.ts';
import type { Clock } from '../time/clock.ts';
import { HttpProblem } from './problem.ts';
import { isMissing, readTokenTexts, type TokenText } from './token-texts.ts';
import { type Grant, grantsWith, verbs as usualVerbs, type Verb } from './who-may.ts';

/** Grants, read again at each use: tokens can be added or withdrawn without a restart. */
export interface TokenFile {
  current(): Promise<readonly Grant[]>;
}

export interface TokenFileOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly health: Pick<Health, 'ready'>;
  /** Called at each use with true if the file was usable. */
  readonly onRead?: (usable: boolean) => void;
  /** Verbs allowed in the file (default: read, write, delete). */
  readonly verbs?: readonly Verb[];
  /** Advice in the error about a file missing at start. */
  readonly madeBy?: string;
}

/**
 * Grace period for the last good grants while the file is missing or broken, as during a replacement. After the grace
 * period all calls are refused, because withdrawn tokens are unknown.
 */
export const tokenGraceMs = 30_000;

/** A failure: start on the monotonic clock, and reason. */
interface Broken {
  readonly since: number;
  readonly why: string;
}

/** Grants from one file; from a broken file, the previous grants. */
interface FileGrants {
  readonly text: string;
  readonly granted: readonly Grant[];
  readonly broken?: Broken;
}

/**
 * Opens a token file (YAML list: name, sha256, providers, verbs) or a folder with such files. Throws if nothing is
 * usable at start. Files broken later lose their grants after `tokenGraceMs`, until valid again. Without any usable
 * file the process is not ready, and every call gets 503.
 */
export async function openTokenFile(path: string, options: TokenFileOptions): Promise<TokenFile> {
  const { clock, log, health, onRead, verbs = usualVerbs } = options;
  const schema = grantsWith(verbs);
  let files: ReadonlyMap<string, FileGrants> = new Map();
  let unread: Broken | undefined;

  function take(texts: readonly TokenText[]): void {
    const before = files;
    files = new Map(
      texts.map((one) => [one.path, fileGrantsOf(one, before.get(one.path), { schema, clock })]),
    );
    for (const [file, { broken }] of files) {
      if (broken && broken.why !== before.get(file)?.broken?.why) {
        log.error({ path: file, why: broken.why }, 'token file cannot be used');
      }
    }
    if (files.size === before.size && [...files].every(([file, one]) => before.get(file) === one))
      return;
    const all = [...files.values()].flatMap(({ granted }) => granted);
    log.info({ path, grants: all.length }, 'token file read');
  }

  async function reread(): Promise<void> {
    try {
      take(await readTokenTexts(path));
      unread = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (unread?.why !== why) log.error({ path, err: error }, 'token file cannot be used');
      unread = { since: unread?.since ?? clock.monotonicMs(), why };
    }
    onRead?.(unread === undefined && ![...files.values()].some(({ broken }) => broken));
  }

  /** Returns the reason if no file is usable. */
  function failureOfAll(): string | undefined {
    if (unread) return unread.why;
    const all = [...files.values()];
    return all.every(({ broken }) => broken) ? all[0]?.broken?.why : undefined;
  }

  const isWithinGrace = (broken: Broken | undefined) =>
    broken === undefined || clock.monotonicMs() - broken.since < tokenGraceMs;

  take(await firstTexts(path, options));
  const flaw = failureOfAll();
  if (flaw !== undefined) throw new UnusableSettingError(flaw);
  health.ready('tokens', () => {
    void reread(); // the next probe reports this result; API calls read the file themselves
    const why = failureOfAll();
    return why && `token file ${path} cannot be used: ${why}`;
  });

  return {
    async current() {
      await reread();
      const usable = isWithinGrace(unread)
        ? [...files.values()].filter(({ broken }) => isWithinGrace(broken))
        : [];
      if (usable.length > 0) return usable.flatMap(({ granted }) => granted);
      const detail = 'the token file of this server cannot be used; see the log of the server';
      throw new HttpProblem(503, 'TokensUnavailable', detail, { retryAfterSeconds: 5 });
    },
  };
}

interface Reading {
  readonly schema: ReturnType<typeof grantsWith>;
  readonly clock: Clock;
}

function fileGrantsOf(
  file: TokenText,
  before: FileGrants | undefined,
  { schema, clock }: Reading,
): FileGrants {
  const { text } = file;
  if (before?.text === text) return before;
  try {
    return { text, granted: grantsIn(file, schema) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const since = before?.broken?.since ?? clock.monotonicMs();
    return { text, granted: before?.granted ?? [], broken: { since, why } };
  }
}

async function firstTexts(
  path: string,
  { madeBy = 'create it as described in docs/guides/access.md' }: TokenFileOptions,
): Promise<readonly TokenText[]> {
  try {
    return await readTokenTexts(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new UnusableSettingError(`token file ${path} does not exist: ${madeBy}`, {
      cause: error,
    });
  }
}

function grantsIn({ path, text }: TokenText, schema: Reading['schema']): readonly Grant[] {
  const parsed = schema.safeParse(yamlIn(path, text));
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
