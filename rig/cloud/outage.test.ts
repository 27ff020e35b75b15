import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../src/time/fake-clock.ts';
import { setUp } from './cloud-in-test.ts';

describe('an outage of the cloud', () => {
  let clock: FakeClock;
  beforeEach(() => {
    clock = createFakeClock();
  });

  /** Lets time go on until the work has settled. */
  async function settled<T>(work: Promise<T>): Promise<T | Error> {
    const done: (T | Error)[] = [];
    work.then(
      (value) => done.push(value),
      (error: unknown) => done.push(error as Error),
    );
    while (done.length === 0) await clock.advance(50);
    return done[0] as T | Error;
  }

  test('costs one probing call per window, and ends by itself', async () => {
    const { running, cloud, serverId, signal } = await setUp({}, clock);
    await settled(cloud.portsOf([serverId], signal));
    running.controls.fail({ service: 'neutron', kind: 'reset' });
    await settled(cloud.portsOf([serverId], signal));
    const before = cloud.calls;
    for (let second = 0; second < 60; second++) {
      expect(await settled(cloud.portsOf([serverId], signal))).toMatchObject({
        kind: 'unreachable',
      });
      await clock.advance(1_000);
    }
    // Windows of about 1, 2, 4, 8, 16 and 32 seconds, two times a probe at their rims.
    expect(cloud.calls - before).toBeLessThanOrEqual(8);
    running.controls.heal({});
    // The longest window there is, should one have begun just now.
    await clock.advance(60_000);
    expect(await settled(cloud.portsOf([serverId], signal))).toHaveLength(1);
  });

  test('tokens that all became invalid cost one login and no error', async () => {
    const { running, cloud, serverId, signal } = await setUp();
    await cloud.portsOf([serverId], signal);
    running.controls.revokeTokens({});
    const { calls } = cloud;
    const both = [cloud.portsOf([serverId], signal), cloud.portsOf([serverId], signal)];
    expect((await Promise.all(both)).map((ports) => ports.length)).toEqual([1, 1]);
    // Two refusals, one login, two repeats.
    expect(cloud.calls - calls).toBe(5);
  });

  test('a token is renewed before it expires', async () => {
    const both = createFakeClock();
    const { running, cloud, serverId, signal } = await setUp(
      { clock: both, tokenLifetimeMs: 600_000, workMs: 0 },
      both,
    );
    await cloud.portsOf([serverId], signal);
    await both.advance(480_000);
    await cloud.portsOf([serverId], signal);
    await both.advance(121_000);
    await cloud.portsOf([serverId], signal);
    // The second login is in time: nothing was refused, and after ten minutes the new token is in use.
    expect(running.requests.get('keystone POST /v3/auth/tokens')).toBe(2);
    expect(cloud.calls).toBe(5);
  });
});
