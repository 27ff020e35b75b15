import { readFile } from 'node:fs/promises';
import { RequestError } from '../../../requests/request-error.ts';

/** Returns the operator's token for Viola, read at each use. Rejects with a RequestError when no token exists. */
export type TokenSource = () => Promise<string>;

/** Reads the file at each use, so a rotated token is effective at once. */
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
