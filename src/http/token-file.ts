import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { Health } from '../process/health.ts';
import type { Logger } from '../process/log.ts';
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
  readonly health: Health;
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

/**
 * Opens a token file (YAML list of name, sha256, providers, verbs) or a folder of them. Throws when it cannot be used at the
 * start; one that goes bad later makes the process not ready, and after `tokenGraceMs` every call is answered 503 until it is
 * good again.
 */
export async function openTokenFile(path: string, options: TokenFileOptions): Promise<TokenFile> {
  const { clock, log, health, onRead } = options;
  let texts = await firstTexts(path, options);
  let held = texts.flatMap(grantsIn);
  let broken: { readonly since: number; readonly why: string } | undefined;

  async function look(): Promise<void> {
    try {
      const now = await readTokenTexts(path);
      if (!isDeepStrictEqual(now, texts)) {
        held = now.flatMap(grantsIn);
        log.info({ path, grants: held.length }, 'token file read');
      }
      texts = now;
      broken = undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (broken?.why !== why) log.error({ path, err: error }, 'token file cannot be used');
      broken = { since: broken?.since ?? clock.monotonicMs(), why };
    }
    onRead?.(broken === undefined);
  }

  health.ready('tokens', () => {
    void look(); // what a probe finds is told by the next one; calls look for themselves
    return broken && `token file ${path} cannot be used: ${broken.why}`;
  });

  return {
    async current() {
      await look();
      if (!broken || clock.monotonicMs() - broken.since < tokenGraceMs) return held;
      const detail = 'the token file of this server cannot be used; its log says why';
      throw new HttpProblem(503, 'TokensUnavailable', detail, { retryAfterSeconds: 5 });
    },
  };
}

async function firstTexts(
  path: string,
  { madeBy = 'make it as docs/guides/access.md says' }: TokenFileOptions,
): Promise<readonly TokenText[]> {
  try {
    return await readTokenTexts(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(`token file ${path} is not there: ${madeBy}`, { cause: error });
  }
}

function grantsIn({ path, text }: TokenText): readonly Grant[] {
  const parsed = grants.safeParse(yamlIn(path, text));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`token file ${path}: ${problems.join('; ')}`);
}

function yamlIn(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`token file ${path}: ${String(error)}`, { cause: error });
  }
}
