import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../process/log.ts';
import { createFakeClock, type FakeClock, settled } from '../../time/fake-clock.ts';
import { BrokerFailure, type BrokerFailureKind } from './broker-failure.ts';
import type { BrokerLogin, Listener } from './connection.ts';
import { Subscription } from './subscription.ts';

interface Opened {
  readonly login: BrokerLogin;
  readonly to: Listener;
  fail(why: BrokerFailureKind): Promise<void>;
}

const password = 'secret-word';

let clock: FakeClock;
let opened: Opened[];
let gaps: number;
let lines: string[];
let authorities: () => Promise<{ ca: string }>;
let stop: AbortController;
let subscription: Subscription;
let run: Promise<void>;

beforeEach(() => {
  clock = createFakeClock();
  opened = [];
  gaps = 0;
  lines = [];
  authorities = async () => ({ ca: `read at ${clock.monotonicMs()}` });
  stop = new AbortController();
  subscription = new Subscription({
    addresses: ['a', 'b'].map((host) => ({ host, port: 5672, tls: false })),
    username: 'u',
    password,
    virtualHost: '/',
    isTrusted: ({ host }) => host === 'a',
    tls: async () => authorities(),
    listen: async (login, to, signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const fail = async (why: BrokerFailureKind) => {
        reject(new BrokerFailure(why, 'in the way'));
        await settled();
      };
      opened.push({ login, to, fail });
      return promise;
    },
    clock,
    random: () => 0.5,
    log: createLogger({
      part: 'test',
      level: 'info',
      destination: { write: (line) => void lines.push(line) },
    }),
    onMessage: () => undefined,
    onGap: () => gaps++,
  });
  run = subscription.run(stop.signal);
});

afterEach(async () => {
  stop.abort();
  await run;
  expect(clock.waits).toEqual([]);
});

async function last(): Promise<Opened> {
  await settled();
  const found = opened.at(-1);
  if (!found) throw new Error('nobody listens');
  return found;
}

/** Returns the milliseconds until the next attempt. */
async function pauseAfter(why: BrokerFailureKind): Promise<number> {
  const before = clock.monotonicMs();
  await (await last()).fail(why);
  const count = opened.length;
  while (opened.length === count) await clock.advance(clock.waits[0] ?? 1);
  return clock.monotonicMs() - before;
}

describe('connection', () => {
  it('each new connection reports a gap once bound', async () => {
    const all = ['neutron', 'nova', 'keystone'];
    expect(subscription.state).toEqual({ kind: 'trying' });
    (await last()).to.onBound(all);
    expect([gaps, subscription.state]).toEqual([1, { kind: 'connected', exchanges: all }]);
    await pauseAfter('unreachable');
    expect(gaps).toBe(1);
    (await last()).to.onBound(all);
    expect(gaps).toBe(2);
  });

  it('a connection reports a gap when an exchange is added, and none when bindings are unchanged', async () => {
    const { to } = await last();
    for (const exchanges of [['neutron', 'nova'], ['neutron', 'nova'], ['neutron']]) {
      to.onBound(exchanges);
    }
    expect(gaps).toBe(1);
    to.onBound(['neutron', 'nova']);
    expect(gaps).toBe(2);
  });

  it('connections use each host in turn and read the CA bundle again each time', async () => {
    await pauseAfter('unreachable');
    await pauseAfter('unreachable');
    const logins = opened.map(({ login }) => [login.address.host, login.isTrusted, login.tls.ca]);
    expect(logins).toEqual([
      ['a', true, 'read at 0'],
      ['b', false, 'read at 1000'],
      ['a', true, 'read at 3000'],
    ]);
  });

  it('an abort ends the subscription without reconnecting', async () => {
    (await last()).to.onBound(['neutron']);
    stop.abort();
    await run;
    expect(opened).toHaveLength(1);
    expect(subscription.state).toEqual({ kind: 'trying' });
  });
});

describe('pause', () => {
  it('the pause doubles up to one minute and restarts at 1 s after a minute of uptime', async () => {
    const pauses = [];
    for (let n = 0; n < 8; n++) pauses.push(await pauseAfter('unreachable'));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    (await last()).to.onBound(['neutron']);
    await clock.advance(59_000);
    expect(await pauseAfter('unreachable')).toBe(60_000);
    (await last()).to.onBound(['neutron']);
    await clock.advance(59_000);
    // onBound is called after each binding check.
    (await last()).to.onBound(['neutron']);
    await clock.advance(1_000);
    expect(await pauseAfter('unreachable')).toBe(1_000);
    expect(await pauseAfter('unreachable')).toBe(2_000);
  });

  it('the pause is one hour after the second refusal, to prevent an account lockout', async () => {
    expect(await pauseAfter('refused')).toBe(60_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
    (await last()).to.onBound(['neutron']);
    expect(await pauseAfter('refused')).toBeLessThanOrEqual(600_000);
  });

  it('the pause is one hour after the second refusal even when another host failed in between', async () => {
    expect(await pauseAfter('refused')).toBe(60_000);
    expect(await pauseAfter('unreachable')).toBe(2_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
    expect(await pauseAfter('unreachable')).toBeLessThanOrEqual(60_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
  });

  it.each(['virtualHost', 'forbidden', 'denied'] as const)(
    'the pause starts at one minute for failures that a user must fix: %s',
    async (why) => {
      expect(await pauseAfter(why)).toBe(60_000);
      expect(await pauseAfter(why)).toBe(120_000);
      for (const longer of [240_000, 480_000, 600_000, 600_000]) {
        expect(await pauseAfter(why)).toBe(longer);
      }
    },
  );
});

describe('failure', () => {
  it('a repeated failure is logged once, without the password', async () => {
    for (const why of ['unreachable', 'unreachable', 'refused', 'unreachable'] as const) {
      await pauseAfter(why);
    }
    (await last()).to.onBound(['neutron']);
    (await last()).to.onBound(['neutron']);
    await pauseAfter('unreachable');
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.map(({ level, msg, why }) => [level, msg, why])).toEqual([
      ['warn', 'no notifications: in the way', 'unreachable'],
      ['warn', 'no notifications: in the way', 'refused'],
      ['warn', 'no notifications: in the way', 'unreachable'],
      ['info', 'listening to notifications', undefined],
      ['warn', 'no notifications: in the way', 'unreachable'],
    ]);
    expect(lines.join()).not.toContain(password);
  });

  it('the subscription retries after any failure, including an unreadable CA bundle', async () => {
    const readable = authorities;
    authorities = async () => Promise.reject(new Error('no such file'));
    await (await last()).fail('queueGone');
    await clock.advance(1_000);
    expect(subscription.state).toEqual({ kind: 'failed', why: 'unreachable', since: 0 });
    authorities = readable;
    await clock.advance(2_000);
    expect(opened.map(({ login }) => login.tls.ca)).toEqual(['read at 0', 'read at 3000']);
  });

  it('`since` in a failed state is the time of the first consecutive failure', async () => {
    await pauseAfter('unreachable');
    await (await last()).fail('queueGone');
    expect(subscription.state).toEqual({ kind: 'failed', why: 'queueGone', since: 0 });
    await clock.advance(2_000);
    (await last()).to.onBound(['neutron']);
    await (await last()).fail('unreachable');
    expect(subscription.state).toEqual({ kind: 'failed', why: 'unreachable', since: 3_000 });
  });
});
