import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** A page file, with the response. */
export interface PageFile {
  /** Path in URLs. */
  readonly path: string;
  readonly contentType: string;
  readonly cacheControl: string;
  readonly body: Buffer;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const indexName = 'index.html';
/** Name with a content hash, such as `main-K3J5Q2XA.js`. */
const hashedName = /^[\w-]+-[0-9A-Za-z]{8,}\.\w+$/;

/**
 * Reads all files in a folder; requests never reach the file system. Throws if the folder has no index.html, or a file
 * without a content hash: browsers must not cache such a file forever.
 */
export async function readPageFiles(folder: string): Promise<readonly PageFile[]> {
  const names = await readdir(folder);
  if (!names.includes(indexName)) throw new Error(`${folder} has no ${indexName}`);
  return Promise.all(names.map((name) => readPageFile(folder, name)));
}

async function readPageFile(folder: string, name: string): Promise<PageFile> {
  const contentType = contentTypes[extname(name)];
  const isIndex = name === indexName;
  if (contentType === undefined || !(isIndex || hashedName.test(name))) {
    throw new Error(
      `${join(folder, name)} is no page file: its name has no hash, or its type is unknown`,
    );
  }
  return {
    path: isIndex ? '/' : `/${name}`,
    contentType,
    cacheControl: isIndex ? 'no-store' : 'public, max-age=31536000, immutable',
    body: await readFile(join(folder, name)),
  };
}
