import { readFile } from 'node:fs/promises';
import { RequestError } from '../../requests/request-error.ts';

/** The header that says who we are; the file is read at each use, so that a rotated token holds at once. */
export async function authorizationOf(path: string | undefined): Promise<Record<string, string>> {
  if (path === undefined) return {};
  try {
    return { authorization: `Bearer ${(await readFile(path, 'utf8')).trim()}` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const message = `the token file ${path} (VIOLA_TOKEN_FILE) cannot be read: ${code}`;
    throw new RequestError(message, { service: 'viola', kind: 'unauthorized', cause: error });
  }
}
