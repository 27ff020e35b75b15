import { expect, it } from 'vitest';
import { consentsTo, endsWaitForNode } from './delete-consent.ts';

/** Deletion time. */
const deletedAt = new Date('2026-01-02T00:00:00Z');
const weekLater = new Date('2026-01-09T00:00:00Z');

it.each<[given: string | undefined, expected: boolean, now?: Date]>([
  [undefined, false],
  ['2026-01-02T00:00:00Z', true],
  ['2026-01-01T00:00:00Z', true],
  ['2025-12-31T23:59:59Z', false],
  ['2025-12-31T23:59:59Z!', false],
  ['2026-01-02T00:00:00Z!', true],
  ['2026-01-02T00:00:00Z!!', false],
  ['2026-01-03T00:00:00Z', true],
  ['2026-01-03T00:00:01Z', false],
  ['2026-01-09T00:00:00Z', false],
  ['2026-01-09T00:00:00Z', true, weekLater],
  ['2026-01-09T00:00:00Z!', true, weekLater],
  ['2026-01-10T00:00:01Z', false, weekLater],
  ['yes', false],
  ['yes!', false],
  ['', false],
  ['!', false],
])('a consent of %s to a deletion of 2 January counts: %s', (given, expected, now = deletedAt) => {
  const metadata =
    given === undefined ? {} : { annotations: { 'multinic.io/delete-consent': given } };
  expect(consentsTo(metadata, deletedAt, now)).toBe(expected);
});

it('a lone exclamation mark ends the wait for a Node, but is no consent without a time', () => {
  const metadata = { annotations: { 'multinic.io/delete-consent': '!' } };
  expect([endsWaitForNode(metadata), consentsTo(metadata, deletedAt, deletedAt)]).toEqual([
    true,
    false,
  ]);
});
