import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { candidate, LeaseServer } from './lease-in-test.ts';

describe('edited lease', () => {
  test('the leader stops at once when another holder appears in the lease', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const me = candidate(server.clientOf(), clock);
    await clock.advance(1_000);
    server.lease = {
      metadata: { name: 'leader', resourceVersion: '99' },
      spec: { holderIdentity: 'usurper', leaseDurationSeconds: 15 },
    };
    await clock.advance(2_000);
    expect(me.isLeading()).toBe(false);
    expect(me.log).toContain('aborted: LeaseLostError: lease lost: held by usurper');
    me.stop.abort();
    await me.running;
    expect(server.lease?.spec?.holderIdentity).toBe('usurper');
  });

  test.each([
    ['edited', { resourceVersion: '99' }],
    ['deleted', undefined],
  ])('the leader keeps renewing a lease %s by hand', async (_, edit) => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const me = candidate(server.clientOf(), clock);
    await clock.advance(1_000);
    server.lease = edit &&
      server.lease && { ...server.lease, metadata: { ...server.lease.metadata, ...edit } };
    await clock.advance(30_000);
    expect([me.isLeading(), server.lease?.spec?.holderIdentity]).toEqual([true, 'me']);
    expect(me.log).toEqual(['campaigning', 'leading']);
    me.stop.abort();
    await me.running;
  });

  test.each([
    ['deleted', (server: LeaseServer) => (server.lease = undefined)],
    ['cleared of its holder', (server: LeaseServer) => server.edit({ holderIdentity: '' })],
    ['made to last a second', (server: LeaseServer) => server.edit({ leaseDurationSeconds: 1 })],
  ])(
    'a candidate does not take a lease %s by hand while its leader lives, and the leader rewrites the lease',
    async (_, edit) => {
      const [server, clock] = [new LeaseServer(), createFakeClock()];
      const leader = candidate(server.clientOf(), clock, 'leader');
      await clock.advance(900);
      const other = candidate(server.clientOf(), clock, 'other');
      await clock.advance(100);
      for (let passed = 0; passed < 30_000; passed += 100) {
        if (passed % 3_700 === 0) edit(server);
        await clock.advance(100);
        expect([leader.isLeading(), other.isLeading()]).toEqual([true, false]);
      }
      await clock.advance(2_000);
      const written = { holderIdentity: 'leader', leaseDurationSeconds: 15 };
      expect(server.lease?.spec).toMatchObject(written);
      leader.stop.abort();
      await leader.running;
      edit(server);
      await clock.advance(17_000);
      expect(other.isLeading()).toBe(true);
      other.stop.abort();
      await other.running;
    },
  );

  test('a leader does not release a lease with another holder', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const me = candidate(server.clientOf(), clock, 'me', 1_000);
    await clock.advance(1_900);
    me.stop.abort();
    await clock.advance(50);
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15 };
    server.lease = { metadata: { name: 'leader', resourceVersion: '99' }, spec };
    await clock.advance(20_000);
    await me.running;
    expect(server.lease.spec?.holderIdentity).toBe('other');
  });
});
