import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { together } from '../reconcile/together.ts';
import { runWithLease } from './lease.ts';
import { candidate, type LeaseClient, LeaseServer } from './lease-in-test.ts';
import { LeaseLostError } from './lease-lock.ts';

const endless = (): Promise<void> => new Promise(() => undefined);

describe('lease', () => {
  test('the lease is acquired, renewed every two seconds and released', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const me = candidate(server.clientOf(), clock);
    await clock.advance(20_000);
    expect([me.isLeading(), server.lease?.spec?.holderIdentity]).toEqual([true, 'me']);
    expect(server.writes).toBe(11);
    me.stop.abort(new Error('SIGTERM'));
    await me.running;
    expect(me.log).toEqual(['campaigning', 'leading', 'aborted: Error: SIGTERM', 'released']);
    expect(server.lease?.spec?.holderIdentity).toBe('');
    expect(clock.waits).toEqual([]);
  });

  test('the next candidate acquires a released lease at once', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const first = candidate(server.clientOf(), clock, 'first');
    await clock.advance(100);
    const second = candidate(server.clientOf(), clock, 'second');
    await clock.advance(30_000);
    expect([first.isLeading(), second.isLeading()]).toEqual([true, false]);
    first.stop.abort();
    await first.running;
    await clock.advance(2_000);
    expect(second.isLeading()).toBe(true);
    second.stop.abort();
    await second.running;
  });

  test('the lease is renewed until the work has ended, and only then released', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const me = candidate(server.clientOf(), clock, 'me', 30_000);
    await clock.advance(1_000);
    me.stop.abort();
    await clock.advance(29_000);
    expect([me.isLeading(), server.lease?.spec?.holderIdentity]).toEqual([true, 'me']);
    const other = candidate(server.clientOf(), clock, 'other');
    await clock.advance(900);
    expect(other.isLeading()).toBe(false);
    await clock.advance(3_000);
    await me.running;
    expect([me.isLeading(), other.isLeading()]).toEqual([false, true]);
    other.stop.abort();
    await other.running;
  });

  test("a candidate acquires a silent leader's lease after 15 s", async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    server.lease = {
      metadata: { name: 'leader', resourceVersion: '0' },
      spec: {
        holderIdentity: 'dead',
        renewTime: '2099-01-01T00:00:00.000000Z',
        leaseDurationSeconds: 15,
      },
    };
    const me = candidate(server.clientOf(), clock);
    await clock.advance(14_900);
    expect(me.isLeading()).toBe(false);
    await clock.advance(2_100);
    expect(me.isLeading()).toBe(true);
    me.stop.abort();
    await me.running;
  });

  test('the leader stops when no renewal succeeds for 10 s, then campaigns again', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let cut = false;
    const me = candidate(
      server.clientOf(() => (cut ? 'cut' : 'none')),
      clock,
    );
    await clock.advance(5_000);
    cut = true;
    await clock.advance(8_900);
    expect(me.isLeading()).toBe(true);
    await clock.advance(200);
    expect(me.isLeading()).toBe(false);
    expect(me.log).toContain('aborted: LeaseLostError: lease lost: not renewed for 10000 ms');
    cut = false;
    await clock.advance(2_000);
    expect(me.isLeading()).toBe(true);
    me.stop.abort();
    await me.running;
  });

  test('a hanging renewal does not extend the leadership', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const client = server.clientOf();
    let hangs = false;
    const patch = ((...args: Parameters<LeaseClient['patch']>) =>
      hangs
        ? new Promise((_, reject) =>
            args[3]?.signal?.addEventListener('abort', () => reject(new Error('ended'))),
          )
        : client.patch(...args)) as LeaseClient['patch'];
    const me = candidate({ ...client, patch }, clock);
    await clock.advance(1_000);
    hangs = true;
    await clock.advance(9_100);
    expect(me.isLeading()).toBe(false);
    me.stop.abort();
    await clock.advance(5_000);
    await me.running;
  });

  test('a leader with a stopped clock loses the lease if another leader held and released it meanwhile', async () => {
    const server = new LeaseServer();
    const [clock, otherClock] = [createFakeClock(), createFakeClock()];
    const leader = candidate(server.clientOf(), clock, 'leader');
    await clock.advance(1_000);
    // Like a paused virtual machine: only the other process's time passes.
    const other = candidate(server.clientOf(), otherClock, 'other');
    await otherClock.advance(20_000);
    expect(other.isLeading()).toBe(true);
    other.stop.abort();
    await other.running;
    await clock.advance(4_000);
    expect(leader.log).toContain('aborted: LeaseLostError: lease lost: it was released');
    expect(leader.isLeading()).toBe(true);
    leader.stop.abort();
    await leader.running;
  });

  test('a lease acquired during shutdown is released', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const slow = server.clientOf(
      () => 'none',
      () => clock.sleep(300),
    );
    const me = candidate(slow, clock);
    await clock.advance(400); // read until 300 ms; the write is running
    me.stop.abort(new Error('SIGTERM'));
    await clock.advance(1_000);
    await me.running;
    expect([me.log, server.lease?.spec?.holderIdentity]).toEqual([['campaigning', 'released'], '']);
  });

  test('the lease is not released while its work may still be writing', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const { signal } = new AbortController();
    const options = {
      client: server.clientOf(),
      namespace: 'ns',
      name: 'leader',
      identity: 'me',
      clock,
      random: () => 0.5,
      onOverrun: () => undefined,
    };
    const work = (leading: AbortSignal): Promise<void> =>
      together(leading, clock, { endless, fails: () => Promise.reject(new Error('broken')) });
    const outcome = runWithLease(options, signal, work).catch(String);
    await clock.advance(11_000);
    expect(await outcome).toMatch(/^StillRunning/);
    expect(server.lease?.spec?.holderIdentity).toBe('me');
  });

  test('a renewal with a lost answer is recognised as our own', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let calls = 0;
    const me = candidate(
      server.clientOf(() => (calls++ === 3 ? 'lostAnswer' : 'none')),
      clock,
    );
    await clock.advance(30_000);
    expect(me.log.filter((entry) => entry.startsWith('aborted'))).toEqual([]);
    me.stop.abort();
    await me.running;
  });

  test('the lease is released when the work ends or fails', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const options = {
      client: server.clientOf(),
      namespace: 'ns',
      name: 'leader',
      identity: 'me',
      clock,
      random: () => 0.5,
      onOverrun: () => undefined,
    };
    const { signal } = new AbortController();
    await runWithLease(options, signal, () => Promise.resolve());
    expect(server.lease?.spec?.holderIdentity).toBe('');
    const failing = runWithLease(options, signal, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(server.lease?.spec?.holderIdentity).toBe('');
  });

  test('runWithLease refuses times unable to keep two leaders apart', async () => {
    const options = {
      namespace: 'ns',
      name: 'leader',
      identity: 'me',
      clock: createFakeClock(),
      random: () => 0.5,
      onOverrun: () => undefined,
    };
    const client = new LeaseServer().clientOf();
    const running = runWithLease(
      { ...options, client, leaseDurationMs: 5_000, renewDeadlineMs: 5_000 },
      new AbortController().signal,
      async () => undefined,
    );
    await expect(running).rejects.toThrow(RangeError);
  });

  test('at most one leader exists under lost connections, lost answers and stops', async () => {
    const trouble = fc.constantFrom(
      'none' as const,
      'none' as const,
      'cut' as const,
      'lostAnswer' as const,
    );
    const act = fc.record({
      ms: fc.integer({ min: 100, max: 9_000 }),
      who: fc.nat(2),
      trouble,
      stop: fc.nat(19),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
        const [server, clock] = [new LeaseServer(), createFakeClock()];
        const troubles: ('none' | 'cut' | 'lostAnswer')[] = ['none', 'none', 'none'];
        const all = troubles.map((_, who) =>
          candidate(
            server.clientOf(() => troubles[who] ?? 'none'),
            clock,
            `candidate-${who}`,
            500,
          ),
        );
        const leaders = (): number => all.filter(({ isLeading }) => isLeading()).length;
        for (const { ms, who, trouble: kind, stop } of acts) {
          troubles[who] = kind;
          if (stop === 0) all[who]?.stop.abort();
          for (let passed = 0; passed < ms; passed += 100) {
            await clock.advance(100);
            expect(leaders()).toBeLessThanOrEqual(1);
          }
        }
        troubles.fill('none');
        await clock.advance(20_000);
        expect(leaders()).toBe(all.every(({ stop }) => stop.signal.aborted) ? 0 : 1);
        for (const { stop } of all) stop.abort(new LeaseLostError('end'));
        await clock.advance(20_000);
        await Promise.all(all.map(({ running }) => running));
        expect(clock.waits).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
