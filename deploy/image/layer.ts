import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { run } from './command.ts';

/** One layer of an image, and its digests as OCI writes them. */
export interface Layer {
  readonly blob: Buffer;
  readonly digest: string;
  /** Of the layer before it was compressed. */
  readonly diffId: string;
}

/** What makes equal files an equal archive: their order, owner and date say nothing. */
export const reproducibly = [
  '--sort=name',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mtime=@0',
  '--format=ustar',
] as const;

/** Packs a folder; equal files give an equal layer. `scratch` is a file that may be written. */
export async function packLayer(folder: string, scratch: string): Promise<Layer> {
  await run(['tar', ...reproducibly, '-C', folder, '-cf', scratch, '.']);
  const archive = await readFile(scratch);
  await rm(scratch);
  const blob = await promisify(gzip)(archive, { level: 9 });
  return { blob, digest: digestOf(blob), diffId: digestOf(archive) };
}

export function digestOf(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
