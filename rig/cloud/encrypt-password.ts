import { createCipheriv, randomBytes } from 'node:crypto';

/** What Contrabass stores: base64 of a random IV and the AES-CBC ciphertext under the raw bytes of `key` (16, 24, 32). */
export function encryptPassword(password: string, key: string): string {
  const keyBytes = Buffer.from(key, 'utf8');
  const iv = randomBytes(16);
  const cipher = createCipheriv(`aes-${keyBytes.length * 8}-cbc`, keyBytes, iv);
  return Buffer.concat([iv, cipher.update(password, 'utf8'), cipher.final()]).toString('base64');
}
