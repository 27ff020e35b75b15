import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import * as z from 'zod';

/** Reads objects of an API server. Tests that wait for a state read it several times per second: kubectl takes 100 ms of CPU. */
export interface ObjectReader {
  /** Undefined if there is no such object; a path of an unknown kind is an error. */
  readonly read: (path: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const notFound = z.object({ kind: z.literal('Status'), reason: z.literal('NotFound') });

/** Opens a reader with the administrator's certificate in the folder. */
export async function openReader(server: string, folder: string): Promise<ObjectReader> {
  const pem = async (name: string) => readFile(join(folder, name), 'utf8');
  const [ca, cert, key] = await Promise.all([pem('ca.crt'), pem('admin.crt'), pem('admin.key')]);
  const dispatcher = new Agent({ connect: { ca, cert, key } });
  return {
    async read(path) {
      const answer = await fetch(server + path, { dispatcher });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text) as unknown;
      const isObject = answer.headers.get('content-type') === 'application/json';
      if (isObject && notFound.safeParse(JSON.parse(text)).success) return undefined;
      throw new Error(`GET ${path}: status ${answer.status} ${text}`);
    },
    close: () => dispatcher.destroy(),
  };
}
