import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { together } from '../reconcile/together.ts';
import { runWithLease } from './lease.ts';
import { candidate, type LeaseClient, LeaseServer } from './lease-in-test.ts';
import { LeaseLostError } from './lease-lock.ts';

const endless = (): Promise<void> => new Promise(() => undefined);

describe('lease', () => {
  test('is taken, renewed every two seconds and given back', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const me = candidate(server.clientOf(), clock);
    await clock.advance(20_000);
    expect([me.isLeading(), server.lease?.spec?.holderIdentity]).toEqual([true, 'me']);
    expect(server.writes).toBe(11);
    me.stop.abort(new Error('SIGTERM'));
    await me.running;
    expect(me.log).toEqual(['campaigning', 'leading', 'told: Error: SIGTERM', 'released']);
    expect(server.lease?.spec?.holderIdentity).toBe('');
    expect(clock.waits).toEqual([]);
  });

  test('goes to the next candidate at once when it was given back', async () => {
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

  test('is renewed until the work has ended, and only then given back', async () => {
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

  test('of a leader that fell silent is taken after fifteen seconds', async () => {
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

  test('that cannot be renewed for ten seconds is stood down from, and campaigned for again', async () => {
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
    expect(me.log).toContain('told: LeaseLostError: lease lost: not renewed for 10000 ms');
    cut = false;
    await clock.advance(2_000);
    expect(me.isLeading()).toBe(true);
    me.stop.abort();
    await me.running;
  });

  test('a renewal that hangs does not keep a leader in office', async () => {
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

  test('that another one held and gave back while the clock of its leader stood still is lost to him', async () => {
    const server = new LeaseServer();
    const [clock, othersClock] = [createFakeClock(), createFakeClock()];
    const leader = candidate(server.clientOf(), clock, 'leader');
    await clock.advance(1_000);
    // As in a virtual machine that is paused: only the other one's time passes.
    const other = candidate(server.clientOf(), othersClock, 'other');
    await othersClock.advance(20_000);
    expect(other.isLeading()).toBe(true);
    other.stop.abort();
    await other.running;
    await clock.advance(4_000);
    expect(leader.log).toContain('told: LeaseLostError: lease lost: it was given back');
    expect(leader.isLeading()).toBe(true);
    leader.stop.abort();
    await leader.running;
  });

  test('that was taken while this process was told to stop is given back', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    const slow = server.clientOf(
      () => 'none',
      () => clock.sleep(300),
    );
    const me = candidate(slow, clock);
    await clock.advance(400); // looked until 300 ms; the write is under way
    me.stop.abort(new Error('SIGTERM'));
    await clock.advance(1_000);
    await me.running;
    expect([me.log, server.lease?.spec?.holderIdentity]).toEqual([['campaigning', 'released'], '']);
  });

  test('is not given back while what it was held for may still be writing', async () => {
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

  test('whose answer got lost is recognised as ours', async () => {
    const [server, clock] = [new LeaseServer(), createFakeClock()];
    let calls = 0;
    const me = candidate(
      server.clientOf(() => (calls++ === 3 ? 'lostAnswer' : 'none')),
      clock,
    );
    await clock.advance(30_000);
    expect(me.log.filter((entry) => entry.startsWith('told'))).toEqual([]);
    me.stop.abort();
    await me.running;
  });

  test('is given back when the work ends by itself or fails', async () => {
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

  test('times that cannot keep two leaders apart are refused', async () => {
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

  test('has one leader at a time, whoever is cut off, loses answers or is stopped', async () => {
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
