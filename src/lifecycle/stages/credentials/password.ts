import { randomBytes } from 'node:crypto';

/** Returns 192 random bits in characters that need no quoting. */
export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}
