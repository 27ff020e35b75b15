import { createHash } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { grants, verbs } from '../../http/who-may.ts';

/** What the operator's tokens are called in Viola's log. */
const name = 'operator';
const note = '# Kept by the operator; tokens of others go into keys of their own.\n';

/** The operator's own grants as Viola reads them: everything, everywhere. */
export function grantsText(hashes: readonly string[]): string {
  const list = hashes.map((sha256) => ({ name, sha256, providers: ['*'], verbs: [...verbs] }));
  return note + stringify(list, { aliasDuplicateObjects: false });
}

/** Hashes of the tokens that a text grants; none when it cannot be read. */
export function hashesIn(text: string | undefined): readonly string[] {
  try {
    return grants.parse(parse(text ?? '[]')).map(({ sha256 }) => sha256);
  } catch {
    return []; // it is written anew
  }
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
