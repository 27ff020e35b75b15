import { describe, expect, test } from 'vitest';
import type { Lease } from '../core-resources.ts';
import { acquiredSpec, isFree, observe, releasedSpec } from './lease-record.ts';

function lease(spec: NonNullable<Lease['spec']>): Lease {
  return { metadata: { name: 'leader' }, spec };
}

describe('lease record', () => {
  const othersLease = lease({
    holderIdentity: 'other',
    renewTime: '2020-01-01T00:00:00.000000Z',
    leaseDurationSeconds: 15,
  });
  const me = { lease: othersLease, identity: 'me', durationMs: 15_000 };

  test("another holder's lease is free after its full duration without a renewal", () => {
    const first = observe(othersLease, undefined, 1_000);
    const later = observe(othersLease, first, 9_000);
    expect(isFree(me, later, 15_999)).toBe(false);
    expect(isFree(me, later, 16_000)).toBe(true);
  });

  test('a lease without duration lasts as long as our own duration', () => {
    const silent = lease({ holderIdentity: 'other', renewTime: '2020-01-01T00:00:00.000000Z' });
    const observed = observe(silent, undefined, 1_000);
    expect(isFree({ ...me, lease: silent }, observed, 15_999)).toBe(false);
    expect(isFree({ ...me, lease: silent }, observed, 16_000)).toBe(true);
  });

  test('a lease with its holder removed by an edit is free only after its duration', () => {
    const cleared = lease({ ...othersLease.spec, holderIdentity: '' });
    const observed = observe(cleared, observe(othersLease, undefined, 1_000), 2_000);
    expect(isFree({ ...me, lease: cleared }, observed, 16_999)).toBe(false);
    expect(isFree({ ...me, lease: cleared }, observed, 17_000)).toBe(true);
  });

  test('a lease lasts at least our own duration, even if edited to a shorter one', () => {
    const short = lease({ ...othersLease.spec, leaseDurationSeconds: 1 });
    const observed = observe(short, undefined, 1_000);
    expect(isFree({ ...me, lease: short }, observed, 15_999)).toBe(false);
    const long = lease({ ...othersLease.spec, leaseDurationSeconds: 20 });
    expect(isFree({ ...me, lease: long }, observed, 20_999)).toBe(false);
  });

  test('a renewed lease counts from its observation, not from its renewTime', () => {
    const first = observe(othersLease, undefined, 1_000);
    const renewed = lease({ ...othersLease.spec, renewTime: '1970-01-01T00:00:00.000000Z' });
    const later = observe(renewed, first, 9_000);
    expect(isFree({ ...me, lease: renewed }, later, 16_000)).toBe(false);
    expect(isFree({ ...me, lease: renewed }, later, 24_000)).toBe(true);
  });

  test.each([
    ['does not exist', undefined],
    ['never had a holder', lease({})],
    [
      'client-go released',
      lease({
        holderIdentity: '',
        leaseDurationSeconds: 1,
        renewTime: '2020-01-01T00:00:00.000000Z',
      }),
    ],
    ['is ours', lease({ holderIdentity: 'me', leaseDurationSeconds: 15 })],
  ])('a lease that %s is free at once', (_, free) => {
    expect(isFree({ ...me, lease: free }, observe(free, undefined, 5), 5)).toBe(true);
  });

  const now = new Date('2026-01-01T00:00:00.123Z');

  test('acquiredSpec counts a transition when the holder changes', () => {
    const before = lease({ ...othersLease.spec, leaseTransitions: 4 });
    expect(acquiredSpec(before, { identity: 'me', durationMs: 15_000, now })).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.123000Z',
      renewTime: '2026-01-01T00:00:00.123000Z',
      leaseTransitions: 5,
    });
  });

  test('acquiredSpec keeps acquireTime on renewal', () => {
    const mine = lease({ holderIdentity: 'me', acquireTime: 'then', leaseTransitions: 5 });
    expect(acquiredSpec(mine, { identity: 'me', durationMs: 15_000, now })).toMatchObject({
      acquireTime: 'then',
      leaseTransitions: 5,
    });
  });

  test('a released lease is free', () => {
    const free = lease(releasedSpec(now));
    expect(isFree({ ...me, lease: free }, observe(free, undefined, 0), 0)).toBe(true);
  });
});
