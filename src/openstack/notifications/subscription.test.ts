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

/** Until it is tried again, in milliseconds. */
async function pauseAfter(why: BrokerFailureKind): Promise<number> {
  const before = clock.monotonicMs();
  await (await last()).fail(why);
  const count = opened.length;
  while (opened.length === count) await clock.advance(clock.waits[0] ?? 1);
  return clock.monotonicMs() - before;
}

describe('a connection', () => {
  it('has missed something until it stands, each time', async () => {
    const all = ['neutron', 'nova', 'keystone'];
    expect(subscription.state).toEqual({ kind: 'trying' });
    (await last()).to.onBound(all);
    expect([gaps, subscription.state]).toEqual([1, { kind: 'connected', exchanges: all }]);
    await pauseAfter('unreachable');
    expect(gaps).toBe(1);
    (await last()).to.onBound(all);
    expect(gaps).toBe(2);
  });

  it('has missed something when an exchange comes, and nothing when all are as they were', async () => {
    const { to } = await last();
    for (const exchanges of [['neutron', 'nova'], ['neutron', 'nova'], ['neutron']]) {
      to.onBound(exchanges);
    }
    expect(gaps).toBe(1);
    to.onBound(['neutron', 'nova']);
    expect(gaps).toBe(2);
  });

  it('is tried with each host in turn, and with the authorities of the time', async () => {
    await pauseAfter('unreachable');
    await pauseAfter('unreachable');
    const seen = opened.map(({ login }) => [login.address.host, login.isTrusted, login.tls.ca]);
    expect(seen).toEqual([
      ['a', true, 'read at 0'],
      ['b', false, 'read at 1000'],
      ['a', true, 'read at 3000'],
    ]);
  });

  it('ends with the signal, and says nothing any more', async () => {
    (await last()).to.onBound(['neutron']);
    stop.abort();
    await run;
    expect(opened).toHaveLength(1);
    expect(subscription.state).toEqual({ kind: 'trying' });
  });
});

describe('the pause', () => {
  it('grows to a minute, and is short again after one that held', async () => {
    const pauses = [];
    for (let n = 0; n < 8; n++) pauses.push(await pauseAfter('unreachable'));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    (await last()).to.onBound(['neutron']);
    await clock.advance(59_000);
    expect(await pauseAfter('unreachable')).toBe(60_000);
    (await last()).to.onBound(['neutron']);
    await clock.advance(59_000);
    // It is told again whenever the bindings are looked after.
    (await last()).to.onBound(['neutron']);
    await clock.advance(1_000);
    expect(await pauseAfter('unreachable')).toBe(1_000);
    expect(await pauseAfter('unreachable')).toBe(2_000);
  });

  it('is an hour after the second refusal, so that nobody is locked out', async () => {
    expect(await pauseAfter('refused')).toBe(60_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
    (await last()).to.onBound(['neutron']);
    expect(await pauseAfter('refused')).toBeLessThanOrEqual(600_000);
  });

  it('is an hour after the second refusal although another host does not answer in between', async () => {
    expect(await pauseAfter('refused')).toBe(60_000);
    expect(await pauseAfter('unreachable')).toBe(2_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
    expect(await pauseAfter('unreachable')).toBeLessThanOrEqual(60_000);
    expect(await pauseAfter('refused')).toBe(3_600_000);
  });

  it.each(['virtualHost', 'forbidden', 'denied'] as const)(
    'is longer where somebody has to act: %s',
    async (why) => {
      expect(await pauseAfter(why)).toBe(60_000);
      expect(await pauseAfter(why)).toBe(120_000);
      for (const longer of [240_000, 480_000, 600_000, 600_000]) {
        expect(await pauseAfter(why)).toBe(longer);
      }
    },
  );
});

describe('a failure', () => {
  it('is logged once as long as it is the same, and no password with it', async () => {
    for (const why of ['unreachable', 'unreachable', 'refused', 'unreachable'] as const) {
      await pauseAfter(why);
    }
    (await last()).to.onBound(['neutron']);
    (await last()).to.onBound(['neutron']);
    await pauseAfter('unreachable');
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map(({ level, msg, why }) => [level, msg, why])).toEqual([
      ['warn', 'no notifications: in the way', 'unreachable'],
      ['warn', 'no notifications: in the way', 'refused'],
      ['warn', 'no notifications: in the way', 'unreachable'],
      ['info', 'listens to notifications', undefined],
      ['warn', 'no notifications: in the way', 'unreachable'],
    ]);
    expect(lines.join()).not.toContain(password);
  });

  it('of any kind is no end: authorities that cannot be read are asked for again', async () => {
    const readable = authorities;
    authorities = async () => Promise.reject(new Error('no such file'));
    await (await last()).fail('queueGone');
    await clock.advance(1_000);
    expect(subscription.state).toEqual({ kind: 'failed', why: 'unreachable', since: 0 });
    authorities = readable;
    await clock.advance(2_000);
    expect(opened.map(({ login }) => login.tls.ca)).toEqual(['read at 0', 'read at 3000']);
  });

  it('dates from the first in a row', async () => {
    await pauseAfter('unreachable');
    await (await last()).fail('queueGone');
    expect(subscription.state).toEqual({ kind: 'failed', why: 'queueGone', since: 0 });
    await clock.advance(2_000);
    (await last()).to.onBound(['neutron']);
    await (await last()).fail('unreachable');
    expect(subscription.state).toEqual({ kind: 'failed', why: 'unreachable', since: 3_000 });
  });
});
