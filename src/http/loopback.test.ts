import { expect, it } from 'vitest';
import { isLoopback } from './loopback.ts';

it.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['[::1]', true],
  ['localhost', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:10.0.0.7', false],
  ['10.127.0.1', false],
  ['127.evil.example', false],
  ['localhost.example', false],
  ['::', false],
  ['0.0.0.0', false],
  ['::1:1', false],
])('isLoopback(%s) returns %s', (host, is) => {
  expect(isLoopback(host)).toBe(is);
});
