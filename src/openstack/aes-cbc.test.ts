import { createCipheriv, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decryptPassword } from './aes-cbc.ts';

const key = '0123456789abcdef';

describe('decryptPassword', () => {
  test.each([
    [key, 'p@ss-워드-1', 'AAECAwQFBgcICQoLDA0OD/s6uSsrvZtde0w8yZnWjqY='],
    [key, 'sixteen-bytes-ok', 'AAECAwQFBgcICQoLDA0OD+QD39ILToJqvTNMPfec1H3Ag6+uLFq/rlVlBFa5FMZu'],
    ['0123456789abcdef01234567', 'x', 'AAECAwQFBgcICQoLDA0OD1tngii+OrYnty/vbZ6d9YU='],
    ['0123456789abcdef0123456789abcdef', '', 'AAECAwQFBgcICQoLDA0OD2+xn0na6p0dXDJsuHtn3Og='],
  ])('decrypts a password that the legacy operator accepts (%#)', (secret, plain, base64) => {
    expect(decryptPassword(base64, secret)).toBe(plain);
  });

  test('decryptPassword tolerates line breaks in the base64 text', () => {
    expect(decryptPassword('AAECAwQFBgcICQoLDA0OD/s6\r\nuSsrvZtde0w8yZnWjqY=', key)).toBe(
      'p@ss-워드-1',
    );
  });

  test('decryptPassword restores any text with AES-128, AES-192 and AES-256 keys', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(16, 24, 32), (plain, length) => {
        const secret = 'k'.repeat(length);
        const iv = randomBytes(16);
        const cipher = createCipheriv(`aes-${length * 8}-cbc`, secret, iv);
        const raw = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final()]);
        expect(decryptPassword(raw.toString('base64'), secret)).toBe(
          Buffer.from(plain, 'utf8').toString('utf8'),
        );
      }),
    );
  });

  test.each([
    ['a 5-byte key', 'AAECAwQFBgcICQoLDA0OD/s6uSsrvZtde0w8yZnWjqY=', 'short', /5 bytes/],
    ['text outside base64', 'not base64!', key, /not base64/],
    [
      'base64 without its padding',
      'AAECAwQFBgcICQoLDA0OD/s6uSsrvZtde0w8yZnWjqY',
      key,
      /not base64/,
    ],
    ['an IV alone', Buffer.alloc(16).toString('base64'), key, /truncated/],
    ['an empty password', '', key, /truncated/],
    ['a truncated block', Buffer.alloc(40).toString('base64'), key, /password is truncated/],
  ])('decryptPassword refuses %s', (_, base64, secret, message) => {
    expect(() => decryptPassword(base64, secret)).toThrow(message);
  });

  test('decryptPassword throws the same error for a wrong key and for damaged ciphertext', () => {
    const damaged = Buffer.alloc(48, 7).toString('base64');
    const message = 'the encrypted password does not fit the encrypt key';
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-128-cbc', key, iv);
    const notUtf8 = Buffer.concat([iv, cipher.update(Buffer.alloc(20, 0xff)), cipher.final()]);
    expect(() => decryptPassword(notUtf8.toString('base64'), key)).toThrow(message);
    expect(() => decryptPassword(damaged, key)).toThrow(message);
    const good = 'AAECAwQFBgcICQoLDA0OD/s6uSsrvZtde0w8yZnWjqY=';
    expect(() => decryptPassword(good, 'fedcba9876543210')).toThrow(message);
  });
});
