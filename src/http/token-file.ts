import { readFile, stat } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Logger } from '../process/log.ts';
import { type Grant, grants } from './who-may.ts';

/** Reads the grants at each use, so that a token can be added or withdrawn without a restart. */
export interface TokenFile {
  current(): Promise<readonly Grant[]>;
}

/**
 * Opens a token file (YAML list of name, sha256, providers, verbs). Throws when it cannot be used at the start; a file
 * that goes bad later keeps the last good grants and says so in the log.
 */
export async function openTokenFile(path: string, log: Logger): Promise<TokenFile> {
  let version = await versionOf(path);
  let held = await readGrants(path);

  async function current(): Promise<readonly Grant[]> {
    try {
      const now = await versionOf(path);
      if (now !== version) {
        held = await readGrants(path);
        version = now;
        log.info({ path, grants: held.length }, 'token file read');
      }
    } catch (error) {
      log.error({ path, err: error }, 'token file cannot be used, keeping the last good one');
    }
    return held;
  }

  return { current };
}

async function versionOf(path: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(path);
  return `${ino}:${size}:${mtimeMs}`;
}

async function readGrants(path: string): Promise<readonly Grant[]> {
  const parsed = grants.safeParse(parse(await readFile(path, 'utf8')));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`token file ${path}: ${problems.join('; ')}`);
}
