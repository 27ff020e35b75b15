import { createHash } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { grants, type Verb } from '../../../http/who-may.ts';

/** Name of the operator's tokens in Viola's log. */
const name = 'operator';
/** Pinned: an earlier Viola rejects a file with an unknown verb, which would lock the operator out. */
const verbs: readonly Verb[] = ['read', 'write', 'delete'];
const note = '# Managed by the operator; put other tokens into separate keys.\n';

/** Returns the operator's grants in Viola's format: Viola's verbs for all providers. */
export function grantsText(hashes: readonly string[]): string {
  const list = hashes.map((sha256) => ({ name, sha256, providers: ['*'], verbs: [...verbs] }));
  return note + stringify(list, { aliasDuplicateObjects: false });
}

/** Returns the token hashes in a grants text; none when the text is unreadable. */
export function hashesIn(text: string | undefined): readonly string[] {
  try {
    return grants.parse(parse(text ?? '[]')).map(({ sha256 }) => sha256);
  } catch {
    return []; // the grants are written again
  }
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
