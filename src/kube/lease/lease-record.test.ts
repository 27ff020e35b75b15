import { describe, expect, test } from 'vitest';
import type { Lease } from '../core-resources.ts';
import { acquiredSpec, isFree, observe, releasedSpec } from './lease-record.ts';

function lease(spec: NonNullable<Lease['spec']>): Lease {
  return { metadata: { name: 'leader' }, spec };
}

describe('a lease', () => {
  const held = lease({
    holderIdentity: 'other',
    renewTime: '2020-01-01T00:00:00.000000Z',
    leaseDurationSeconds: 15,
  });
  const me = { lease: held, identity: 'me', durationMs: 15_000 };

  test('of somebody else is free when it has said the same for its whole duration', () => {
    const first = observe(held, undefined, 1_000);
    const later = observe(held, first, 9_000);
    expect(isFree(me, later, 15_999)).toBe(false);
    expect(isFree(me, later, 16_000)).toBe(true);
  });

  test('that does not say how long it lasts lasts as long as ours', () => {
    const silent = lease({ holderIdentity: 'other', renewTime: '2020-01-01T00:00:00.000000Z' });
    const seen = observe(silent, undefined, 1_000);
    expect(isFree({ ...me, lease: silent }, seen, 15_999)).toBe(false);
    expect(isFree({ ...me, lease: silent }, seen, 16_000)).toBe(true);
  });

  test('whose holder somebody took away is not free before its duration is over: the holder may live', () => {
    const cleared = lease({ ...held.spec, holderIdentity: '' });
    const seen = observe(cleared, observe(held, undefined, 1_000), 2_000);
    expect(isFree({ ...me, lease: cleared }, seen, 16_999)).toBe(false);
    expect(isFree({ ...me, lease: cleared }, seen, 17_000)).toBe(true);
  });

  test('lasts no shorter than ours, whatever somebody wrote into it', () => {
    const short = lease({ ...held.spec, leaseDurationSeconds: 1 });
    const seen = observe(short, undefined, 1_000);
    expect(isFree({ ...me, lease: short }, seen, 15_999)).toBe(false);
    const long = lease({ ...held.spec, leaseDurationSeconds: 20 });
    expect(isFree({ ...me, lease: long }, seen, 20_999)).toBe(false);
  });

  test('that was renewed counts from the moment it was seen, whatever its time says', () => {
    const first = observe(held, undefined, 1_000);
    const renewed = lease({ ...held.spec, renewTime: '1970-01-01T00:00:00.000000Z' });
    const later = observe(renewed, first, 9_000);
    expect(isFree({ ...me, lease: renewed }, later, 16_000)).toBe(false);
    expect(isFree({ ...me, lease: renewed }, later, 24_000)).toBe(true);
  });

  test.each([
    ['does not exist', undefined],
    ['never had a holder', lease({})],
    [
      'client-go gave back',
      lease({
        holderIdentity: '',
        leaseDurationSeconds: 1,
        renewTime: '2020-01-01T00:00:00.000000Z',
      }),
    ],
    ['is ours', lease({ holderIdentity: 'me', leaseDurationSeconds: 15 })],
  ])('that %s is free at once', (_, free) => {
    expect(isFree({ ...me, lease: free }, observe(free, undefined, 5), 5)).toBe(true);
  });

  const now = new Date('2026-01-01T00:00:00.123Z');

  test('that is taken notes the change of hands', () => {
    const before = lease({ ...held.spec, leaseTransitions: 4 });
    expect(acquiredSpec(before, { identity: 'me', durationMs: 15_000, now })).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.123000Z',
      renewTime: '2026-01-01T00:00:00.123000Z',
      leaseTransitions: 5,
    });
  });

  test('that is renewed keeps when it was taken', () => {
    const mine = lease({ holderIdentity: 'me', acquireTime: 'then', leaseTransitions: 5 });
    expect(acquiredSpec(mine, { identity: 'me', durationMs: 15_000, now })).toMatchObject({
      acquireTime: 'then',
      leaseTransitions: 5,
    });
  });

  test('that is given back is free', () => {
    const free = lease(releasedSpec(now));
    expect(isFree({ ...me, lease: free }, observe(free, undefined, 0), 0)).toBe(true);
  });
});
