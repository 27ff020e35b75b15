import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { candidate, type LeaseClient, LeaseServer } from './lease-in-test.ts';

describe('lease on a slow or unreachable API server', () => {
  test('the lease survives 4.5 s calls, because its time counts from the write, not from the read before', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const slow = server.clientOf(
      () => 'none',
      () => clock.sleep(4_500),
    );
    const me = candidate(slow, clock);
    await clock.advance(120_000);
    expect(me.log).toEqual(['campaigning', 'leading']);
    expect(me.isLeading()).toBe(true);
    me.stop.abort(new Error('SIGTERM'));
    await clock.advance(20_000);
    await me.running;
  });

  test('a candidate does not lead while a call takes longer than half the renew deadline', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let callMs = 6_000;
    const slow = server.clientOf(
      () => 'none',
      () => clock.sleep(callMs),
    );
    const me = candidate(slow, clock);
    await clock.advance(120_000);
    expect(me.log).not.toContain('leading');
    callMs = 1_000;
    await clock.advance(20_000);
    expect(me.log.at(-1)).toBe('leading');
    me.stop.abort(new Error('SIGTERM'));
    await clock.advance(20_000);
    await me.running;
  });

  test("the lease counts from the write's start, not from its answer", async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let cut = false;
    const slow = server.clientOf(
      () => (cut ? 'cut' : 'none'),
      () => clock.sleep(3_000),
    );
    const me = candidate(slow, clock);
    await clock.advance(4_000); // read until 3 s, then writing
    cut = true;
    await clock.advance(8_900);
    expect(me.isLeading()).toBe(true);
    await clock.advance(200);
    expect(me.isLeading()).toBe(false);
    me.stop.abort();
    await clock.advance(20_000);
    await me.running;
  });

  test('work outliving a lost lease is reported before another candidate leads', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let cut = false;
    const me = candidate(
      server.clientOf(() => (cut ? 'cut' : 'none')),
      clock,
      'me',
      3_600_000,
    );
    const outcome = me.running.catch(String);
    const other = candidate(server.clientOf(), clock, 'other');
    await clock.advance(4_100);
    cut = true;
    await clock.advance(14_800);
    expect([me.log.at(-1), other.isLeading()]).toEqual([
      'aborted: LeaseLostError: lease lost: not renewed for 10000 ms',
      false,
    ]);
    await clock.advance(150);
    const overrun =
      'work still running after its lease expired (lease lost: not renewed for 10000 ms)';
    expect([me.log.at(-1), other.isLeading()]).toEqual([overrun, false]);
    expect(await outcome).toBe(`LeaseOverrun: ${overrun}`);
    other.stop.abort();
    await other.running;
  });

  test('the lease is released although the last renewal was written but never answered', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let hangs = false;
    const client = server.clientOf();
    const patch = (async (...args: Parameters<LeaseClient['patch']>) => {
      const written = await client.patch(...args);
      if (hangs) await clock.sleep(4_000);
      return written;
    }) as LeaseClient['patch'];
    const next = candidate({ ...client, patch }, clock, 'next');
    await clock.advance(1_000);
    hangs = true;
    await clock.advance(1_500); // written, not answered
    next.stop.abort(new Error('SIGTERM'));
    hangs = false;
    await clock.advance(100);
    expect(next.log.at(-1)).toBe('released');
    expect(server.lease?.spec?.holderIdentity).toBe('');
    await next.running;
  });
});
