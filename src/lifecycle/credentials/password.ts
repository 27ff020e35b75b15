import { randomBytes } from 'node:crypto';

/** 192 random bits in letters that need no quoting anywhere. */
export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}
