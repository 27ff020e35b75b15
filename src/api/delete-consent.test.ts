import { expect, it } from 'vitest';
import { consentsTo, deletionBasis, endsWaitForNode, isEvidence } from './delete-consent.ts';

/** Deletion time. */
const deletedAt = new Date('2026-01-02T00:00:00Z');
const weekLater = new Date('2026-01-09T00:00:00Z');

it.each<[given: string | undefined, expected: boolean, now?: Date]>([
  [undefined, false],
  ['2026-01-02T00:00:00Z', true],
  ['2026-01-01T22:55:00Z', true],
  ['2026-01-01T22:54:59Z', false],
  ['2026-01-01T22:54:59Z!', false],
  ['2026-01-02T00:00:00Z!', true],
  ['2026-01-02T00:00:00Z!!', false],
  ['2026-01-02T00:05:00Z', true],
  ['2026-01-02T00:05:01Z', false],
  ['2026-01-09T00:00:00Z', false],
  ['2026-01-09T00:00:00Z', true, weekLater],
  ['2026-01-09T00:00:00Z!', true, weekLater],
  ['2026-01-09T00:05:01Z', false, weekLater],
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

const [at, uid, spec] = ['2026-01-02T00:00:00Z', 'u', 'h'];
const stamp = (change = {}) =>
  JSON.stringify({ uid, spec, at, proven: [], consented: [], ...change });

it.each<[when: string, deletion: string, removal: string | undefined, ...wanted: unknown[]]>([
  ['only delete-consent exists', at, undefined, false, 'consent'],
  ['both have one time', at, stamp(), true, 'evidence'],
  ['both have one time and ! follows', `${at}!`, stamp(), true, 'evidence'],
  ['the times differ', at, stamp({ at: '2026-01-02T00:00:01Z' }), false, 'consent'],
  ['the evidence is for another uid', at, stamp({ uid: 'restored' }), false, 'named'],
  ['the evidence is for another spec', at, stamp({ spec: 'edited' }), false, 'named'],
  ['removal-consent is a bare hash', at, spec, false, 'consent'],
  [
    'both times are too old',
    '2026-01-01T00:00:00Z',
    stamp({ at: '2026-01-01T00:00:00Z' }),
    true,
    'named',
  ],
])('the basis of a deletion is right when %s', (_when, deletion, removal, evidence, basis) => {
  const metadata = {
    uid,
    annotations: {
      'multinic.io/delete-consent': deletion,
      ...(removal === undefined ? {} : { 'multinic.io/removal-consent': removal }),
    },
  };
  expect(isEvidence(metadata, spec)).toBe(evidence);
  expect(deletionBasis(metadata, spec, deletedAt, deletedAt)).toBe(basis);
});
