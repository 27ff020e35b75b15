import { readFile } from 'node:fs/promises';
import { RequestError } from '../../requests/request-error.ts';

/** The operator's token for Viola, asked for at each use; rejects with a RequestError when there is none. */
export type TokenSource = () => Promise<string>;

/** A file is read at each use, so that a rotated token holds at once. */
export function tokenInFile(path: string): TokenSource {
  return async () => {
    try {
      return (await readFile(path, 'utf8')).trim();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      const message = `the token file ${path} (VIOLA_TOKEN_FILE) cannot be read: ${code}`;
      throw new RequestError(message, { service: 'viola', kind: 'unauthorized', cause: error });
    }
  };
}
