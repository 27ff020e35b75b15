import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import { Unread } from './unread.ts';

/** Limit for the folder's parent in bytes: macOS allows 104 bytes for a socket's path, Linux 108. */
const longestParent = 80;

/** Creates a folder for a socket, open to no further account: in TMPDIR, or in /tmp if that path is too long or unusable. */
export async function createSocketFolder(
  parents: readonly string[] = [tmpdir(), '/tmp'],
): Promise<string> {
  const failures: string[] = [];
  for (const parent of new Set(parents)) {
    const length = Buffer.byteLength(parent);
    if (length > longestParent) {
      failures.push(`${parent} has ${length} characters`);
      continue;
    }
    try {
      return await mkdtemp(join(parent, 'multinic-'));
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  const why = filled(accessTexts.noSocketFolder, { folders: failures.join('; ') });
  throw new Unread(why, accessTexts.giveTmpdir);
}
