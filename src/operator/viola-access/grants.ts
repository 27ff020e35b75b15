import { createHash } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { grants, verbs } from '../../http/who-may.ts';

/** Name of the operator's tokens in Viola's log. */
const name = 'operator';
const note = '# Managed by the operator; put other tokens into separate keys.\n';

/** Returns the operator's grants in Viola's format: all verbs for all providers. */
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
