import { isUtf8 } from 'node:buffer';
import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FileChange } from '../planning/unit.ts';
import { sha256 } from '../state.ts';
import { isThere, syncPath, textOf, writeWhole } from './whole-file.ts';

/** Folder with the originals of edited foreign files; never pruned. */
const originals = '/var/lib/multinic/adopted';

/**
 * Gives the staged file the foreign file's owner and mode; the folder gives the SELinux type. The original goes to
 * `adopted/` first. Throws for a link, as a rename would replace the link, and for bytes lost in text.
 */
export async function prepareForeign(
  { path, before, foreign, mode }: FileChange,
  staged: string,
  { hostRoot }: { readonly hostRoot: string },
): Promise<void> {
  const { uid, gid, ...status } = lstatSync(join(hostRoot, path));
  if ((status.mode & 0o170_000) !== 0o100_000) throw new Error(`${path} is not a regular file`);
  if (!isUtf8(readFileSync(join(hostRoot, path)))) throw new Error(`${path} is not UTF-8 text`);
  const made = lstatSync(staged);
  if (made.uid !== uid || made.gid !== gid) chownSync(staged, uid, gid);
  chmodSync(staged, mode);
  if (foreign === 'edit' && before !== null) await keepOriginal(path, before, hostRoot);
}

async function keepOriginal(path: string, text: string, hostRoot: string): Promise<void> {
  const folder = join(hostRoot, originals);
  const copy = join(folder, `${basename(path)}.${sha256(text).slice(0, 12)}`);
  if (isThere(copy)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await writeWhole(copy, text, 0o600);
  await syncPath(folder);
}

/** Throws if cloud-init or a user has changed the foreign file since the plan. */
export function expectUnchanged({ path, before }: FileChange, real: string): void {
  if (textOf(real) !== before) throw new Error(`${path} has changed meanwhile`);
}
