import { expect, it } from 'vitest';
import { consentsTo } from './delete-consent.ts';

it.each([
  [undefined, false],
  ['2026-01-02T00:00:00Z', true],
  ['2026-01-01T00:00:00Z', true],
  ['2025-12-31T23:59:59Z', false],
  ['2026-01-09T00:00:00Z', true],
  ['2025-12-31T23:59:59Z!', false],
  ['2026-01-02T00:00:00Z!', true],
  ['yes', true],
  ['', true],
])('a deletion of 2 January is meant by a consent of %s: %s', (given, expected) => {
  const metadata =
    given === undefined ? {} : { annotations: { 'multinic.io/delete-consent': given } };
  expect(consentsTo(metadata, new Date('2026-01-02T00:00:00Z'))).toBe(expected);
});
