import { isUtf8 } from 'node:buffer';
import { createDecipheriv } from 'node:crypto';

const blockBytes = 16;
const algorithms = new Map([
  [16, 'aes-128-cbc'],
  [24, 'aes-192-cbc'],
  [32, 'aes-256-cbc'],
]);

/**
 * Decrypts a Contrabass password: base64 text with a 16-byte IV and AES-CBC ciphertext (PKCS#7 padding). The raw
 * UTF-8 bytes in `key` are the AES key, without derivation; their number selects AES-128, -192 or -256.
 *
 * Throws the same error for every damage after the length check. CBC without a MAC cannot distinguish a wrong key
 * from damaged ciphertext, and distinct padding errors would make this function a padding oracle.
 */
export function decryptPassword(base64: string, key: string): string {
  const keyBytes = Buffer.from(key, 'utf8');
  const algorithm = algorithms.get(keyBytes.length);
  if (algorithm === undefined) {
    throw new Error(`the encrypt key has ${keyBytes.length} bytes; it must have 16, 24 or 32`);
  }
  const raw = decodeBase64(base64);
  if (raw.length < 2 * blockBytes || raw.length % blockBytes !== 0) {
    throw new Error('the encrypted password is truncated');
  }
  const decipher = createDecipheriv(algorithm, keyBytes, raw.subarray(0, blockBytes));
  try {
    const plain = Buffer.concat([decipher.update(raw.subarray(blockBytes)), decipher.final()]);
    // With a wrong key, 1 in 256 results has valid padding, but rarely valid UTF-8.
    if (!isUtf8(plain)) throw new Error('the decrypted password is not text');
    return plain.toString('utf8');
  } catch (error) {
    throw new Error('the encrypted password does not fit the encrypt key', { cause: error });
  }
}

// Buffer.from skips invalid characters, and would decrypt damaged base64 to a different text.
function decodeBase64(text: string): Buffer {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) {
    throw new Error('the encrypted password is not base64');
  }
  return Buffer.from(compact, 'base64');
}
