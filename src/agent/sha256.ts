import { createHash } from 'node:crypto';

/** Digest of a text, in hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
