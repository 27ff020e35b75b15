import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock, until } from '../../time/fake-clock.ts';
import type { BrokerFailure } from './broker-failure.ts';
import { type ListenTimes, listenByAmqp, usualTimes } from './connection.ts';
import { longestMessage } from './envelope.ts';
import { type FakeConnection, type FaultyReplies, startFakeBroker } from './testing/fake-broker.ts';

let clock: FakeClock;
let broker: Awaited<ReturnType<typeof startFakeBroker>>;
let bound: (readonly string[])[];
let bodies: (Buffer | undefined)[];
let stop: AbortController;
let ended: Promise<BrokerFailure>;

beforeEach(() => {
  clock = createFakeClock();
  bound = [];
  bodies = [];
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await ended;
  const closed = () =>
    broker.connections.every(({ socket }) => socket.destroyed || socket.readableEnded);
  await until('every connection is closed', closed);
  broker[Symbol.dispose]();
  // No timer outlives the connection.
  expect(clock.waits).toEqual([]);
});

async function listen(faulty: FaultyReplies = {}, times = usualTimes): Promise<void> {
  broker = await startFakeBroker(faulty);
  const address = { host: '127.0.0.1', port: broker.port, tls: false };
  const login = {
    address,
    username: 'u',
    password: 'pass',
    virtualHost: '/v',
    tls: {},
    isTrusted: true,
  };
  const to = {
    onBound: (exchanges: readonly string[]) => void bound.push(exchanges),
    onMessage: (body: Buffer | undefined) => void bodies.push(body),
  };
  ended = listenByAmqp(clock, times)(login, to, stop.signal).catch(
    (error: unknown) => error as BrokerFailure,
  );
}

async function listening(faulty?: FaultyReplies, times?: ListenTimes): Promise<FakeConnection> {
  await listen(faulty, times);
  await until('the queue is bound', () => bound.length > 0);
  const [connection] = broker.connections;
  if (!connection) throw new Error('no connection');
  return connection;
}

describe('login', () => {
  it.each([0, 0xff])(
    "a login sends the user's credentials, and our limits where the broker's are %s",
    async (of) => {
      const { lastArguments } = await listening({
        '10.11': (to) => to.method(0, 10, 30, Buffer.alloc(8, of)),
      });
      expect(lastArguments.get('10.11')?.toString('latin1')).toContain(
        'PLAIN\u0000\u0000\u0000\u0007\u0000u\u0000pass',
      );
      // Without these capabilities the broker reports a refused login or a deleted queue only by silence.
      for (const capability of ['authentication_failure_close', 'consumer_cancel_notify']) {
        expect(lastArguments.get('10.11')?.toString('latin1')).toContain(`${capability}t\u0001`);
      }
      // Two channels, frames with 128 KiB, 10 s heartbeat.
      expect(lastArguments.get('10.31')?.toString('hex')).toBe('000200020000000a');
      expect(lastArguments.get('10.40')?.subarray(0, 3).toString()).toBe('\u0002/v');
    },
  );

  it("a login adopts the broker's limits when they are narrower", async () => {
    const { lastArguments } = await listening({
      '10.11': (to) => to.method(0, 10, 30, Buffer.from('0002000010000003', 'hex')),
    });
    expect(lastArguments.get('10.31')?.toString('hex')).toBe('0002000010000003');
  });

  it.each([
    ['10.11', 403, 'refused'],
    ['10.40', 530, 'virtualHost'],
    ['10.40', 320, 'unreachable'],
    ['10.31', 501, 'protocol'],
    ['10.31', 502, 'protocol'],
    ['10.40', 503, 'protocol'],
    ['10.40', 505, 'protocol'],
  ] as const)('a login answered at %s with close code %i fails as %s', async (at, code, kind) => {
    await listen({ [at]: (to) => to.close(10, 0, code, 'NO - not you') });
    const failure = await ended;
    expect(failure).toMatchObject({ kind });
    expect(failure.message).toBe('the broker closed the connection: NO - not you');
    await until('it agrees', () => broker.connections[0]?.requests.at(-1) === '10.51');
  });

  it.each(['hello', '10.11', '10.40', '20.10', '50.10', '60.20', '50.20'])(
    'a login without reply to %s fails after 10 s',
    async (at) => {
      await listen({ [at]: () => undefined });
      const waits = () => clock.waits.includes(usualTimes.answerMs);
      await until('it waits', waits);
      const hasRequested = () => broker.connections[0]?.requests.includes(at) ?? false;
      await until('it is asked', () => at === 'hello' || hasRequested());
      await clock.advance(usualTimes.answerMs);
      expect(await ended).toMatchObject({ kind: 'unreachable', message: 'no answer within 10 s' });
    },
  );

  it.each([
    ['50.10', 403, 'forbidden'],
    ['60.20', 403, 'forbidden'],
    ['50.10', 405, 'unreachable'],
  ] as const)('a refused %s with code %i fails as %3$s', async (at, code, kind) => {
    await listen({ [at]: (to, channel) => to.close(20, channel, code, 'NO') });
    expect(await ended).toMatchObject({ kind });
  });
});

function counted(text: string): string {
  return String.fromCharCode(text.length) + text;
}

describe('queue', () => {
  it('the queue is bound to all exchanges with every key, and only the queue is declared', async () => {
    const { requests, lastArguments } = await listening();
    expect(bound).toEqual([['neutron', 'nova', 'keystone']]);
    expect(requests.filter((name) => name.startsWith('50.'))).toEqual([
      '50.10',
      '50.20',
      '50.20',
      '50.20',
      '50.20',
    ]);
    // Exclusive and auto-delete; the broker chooses the name.
    expect(lastArguments.get('50.10')?.toString('hex')).toBe('0000000c00000000');
    expect(lastArguments.get('60.10')?.toString('hex')).toBe('00000000006400');
    // With acknowledgements and a reply.
    expect(lastArguments.get('60.20')?.toString('latin1')).toBe(
      '\u0000\u0000\u0009amq.gen-1\u0000\u0000\u0000\u0000\u0000\u0000',
    );
  });

  it("the queue is bound to OpenStack's exchanges, one reply at a time", async () => {
    const binds: (string | undefined)[] = [];
    await listening({
      '50.20': (to, channel) => {
        binds.push(to.lastArguments.get('50.20')?.toString('latin1', 2));
        to.method(channel, 50, 21);
      },
    });
    const sources = [
      ['neutron', 'notifications.info'],
      ['nova', 'notifications.info'],
      ['nova', 'versioned_notifications.info'],
      ['keystone', 'notifications.info'],
    ];
    const texts = sources.map((source) => ['amq.gen-1', ...source].map(counted).join(''));
    expect(binds).toEqual(texts.map((text) => `${text}\u0000\u0000\u0000\u0000\u0000`));
  });

  it('the queue is bound to the remaining exchanges when one is forbidden', async () => {
    let binds = 0;
    const { requests } = await listening({
      '50.20': (to, channel) => {
        if (binds++ === 0) to.close(20, channel, 403, 'ACCESS_REFUSED');
        else to.method(channel, 50, 21);
      },
    });
    expect(bound).toEqual([['nova', 'keystone']]);
    expect(requests.filter((name) => name === '20.41')).toHaveLength(1);
  });

  it('a channel closed twice by the broker fails the connection', async () => {
    const faulty: FaultyReplies = {
      '50.20': (to, channel) => {
        // Both in one packet, so that no request happens in between.
        to.socket.cork();
        for (const text of ['NO', 'NO']) to.close(20, channel, 404, text);
        to.socket.uncork();
      },
    };
    await listen(faulty);
    expect(await ended).toMatchObject({
      kind: 'unreachable',
      message: 'the broker closed a channel: NO',
    });
  });

  it('bindings are checked every minute at least while an exchange is missing', async () => {
    const faulty: FaultyReplies = { '50.20': (to, channel) => to.close(20, channel, 404, 'NO') };
    await listening(faulty, { ...usualTimes, heartbeatSeconds: 10_000 });
    for (const pause of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      const rounds = bound.length;
      await until('it waits', () => clock.waits.includes(pause));
      await clock.advance(pause);
      await until('it is looked after', () => bound.length > rounds);
    }
  });

  it('a missing exchange is bound after 5 s, then bindings are checked every minute', async () => {
    let binds = 0;
    // Neutron is bound first in each round.
    await listening({
      '50.20': (to, channel) => {
        if (binds++ < 3) to.close(20, channel, 404, 'NOT_FOUND');
        else to.method(channel, 50, 21);
      },
    });
    expect(bound).toEqual([[]]);
    await until('it waits', () => clock.waits.includes(5_000));
    await clock.advance(5_000);
    await until('it is bound', () => bound.length === 2);
    expect(bound[1]).toEqual(['neutron', 'nova', 'keystone']);
    await until('it waits', () => clock.waits.some((ms) => ms === 60_000));
  });

  it('a queue deleted by the broker is reported as queueGone', async () => {
    const { method } = await listening().then((to) => ({ method: to.method.bind(to) }));
    method(1, 60, 30, Buffer.from('\u0003tag\u0000'));
    expect(await ended).toMatchObject({ kind: 'queueGone' });
  });
});

describe('messages', () => {
  it('messages are complete however they are split, and each is acknowledged', async () => {
    const to = await listening();
    to.deliver(Buffer.from('one message'), { tag: 7n, piece: 3 });
    to.deliver(Buffer.alloc(0), { tag: 8n });
    await until(
      'both are acknowledged',
      () => to.requests.filter((name) => name === '60.80').length === 2,
    );
    expect(bodies.map(String)).toEqual(['one message', '']);
    expect(to.lastArguments.get('60.80')?.toString('hex')).toBe('000000000000000800');
  });

  it('oversized messages are discarded and acknowledged', async () => {
    const to = await listening();
    to.deliver(Buffer.alloc(longestMessage + 1), { piece: 100_000 });
    to.deliver(Buffer.alloc(longestMessage), { piece: 100_000 });
    await until('both have come', () => bodies.length === 2);
    expect(bodies.map((body) => body?.length)).toEqual([undefined, longestMessage]);
  });
});

/** Sends empty messages while the peer reads. */
function endless(to: FakeConnection): void {
  const { socket } = to;
  socket.pause();
  const more = (): void => {
    socket.cork();
    while (!socket.destroyed && socket.writableLength < 1_000_000) to.deliver(Buffer.alloc(0));
    socket.uncork();
  };
  socket.on('drain', more);
  more();
}

function twoHeaders(to: FakeConnection): void {
  to.deliver(Buffer.alloc(0), { size: 9n });
  to.header(5n);
}

describe('protocol violation', () => {
  const lies: [string, (to: FakeConnection) => void][] = [
    ['a message of 600 MB', (to) => to.deliver(Buffer.alloc(0), { size: 600n * 1024n * 1024n })],
    ['a body longer than announced', (to) => to.deliver(Buffer.alloc(10), { size: 5n })],
    ['a body without a message', (to) => to.body(Buffer.alloc(1))],
    ['a header without a message', (to) => to.header(1n)],
    [
      'a message within a message',
      (to) => [1, 2].forEach(() => to.deliver(Buffer.alloc(0), { size: 9n })),
    ],
    ['two headers of a message', twoHeaders],
    ['the same answer twice', (to) => to.method(1, 60, 21, Buffer.from('\u0003tag'))],
    ['a reply without request', (to) => to.method(1, 60, 11)],
    ['an unknown method', (to) => to.method(1, 90, 10)],
    ['a method cut short', (to) => to.method(1, 60, 60, Buffer.from('\u0009ta'))],
    ['endless messages without reading acknowledgements', endless],
    ['half a method', (to) => to.socket.write(Buffer.from('0100000000000100ce', 'hex'))],
    ['a frame without its end', (to) => to.socket.write(Buffer.from('0800000000000000', 'hex'))],
    ['an oversized frame', (to) => to.socket.write(Buffer.from('03000100020000', 'hex'))],
    ['an unknown frame type', (to) => to.socket.write(Buffer.from('04', 'hex'))],
  ];

  it.each(lies)('a broker that violates AMQP is disconnected: %s', async (_name, lie) => {
    lie(await listening());
    expect(await ended).toMatchObject({ name: 'BrokerFailure', kind: 'protocol' });
  });

  it.each([
    ['10.11', (to: FakeConnection) => to.method(0, 10, 30, Buffer.alloc(7))],
    ['50.10', (to: FakeConnection, channel: number) => to.method(channel, 50, 11)],
  ])('a broker is disconnected when its answer to %s is truncated', async (at, lie) => {
    await listen({ [at]: lie });
    const message = 'the broker sent a truncated frame';
    expect(await ended).toMatchObject({ kind: 'protocol', message });
  });
});

/** Prevents binding checks, which would need real replies while the fake clock jumps. */
const neverRebound = { ...usualTimes, bindMs: 1e9 };

describe('heartbeat', () => {
  it('a connection sends heartbeats and ends after two intervals without data', async () => {
    const to = await listening({}, neverRebound);
    for (let n = 0; n < 10; n++) {
      // A heartbeat's arrival is not observable; a message's is.
      to.deliver(Buffer.alloc(0));
      await until('it has come', () => bodies.length > n);
      await clock.advance(15_000);
      await until('it beats', () => to.heartbeats === (n + 1) * 3);
    }
    await clock.advance(25_000);
    expect(await ended).toMatchObject({
      kind: 'unreachable',
      message: 'no heartbeat from the broker',
    });
  });

  it('a connection stays open when only heartbeats arrive', async () => {
    const to = await listening({}, neverRebound);
    const beating = setInterval(() => to.beat(), 1);
    stop.signal.addEventListener('abort', () => clearInterval(beating));
    for (let n = 1; n <= 10; n++) {
      await clock.advance(5_000);
      await until('it beats', () => to.heartbeats === n);
      const { bytesWritten } = to.socket;
      await until('more has come', () => to.socket.bytesWritten > bytesWritten + 80);
    }
  });

  it.each([
    ['that the broker closes', (to: FakeConnection) => to.close(10, 0, 320, 'bye')],
    ['whose channel the broker closes', (to: FakeConnection) => to.close(20, 1, 406, 'bye')],
    ['whose other channel the broker closes', (to: FakeConnection) => to.close(20, 2, 406, 'bye')],
    ['that breaks', (to: FakeConnection) => to.socket.resetAndDestroy()],
    ['that ends', (to: FakeConnection) => to.socket.end()],
  ])('a connection %s is reported as unreachable', async (_name, end) => {
    const to = await listening();
    end(to);
    expect(await ended).toMatchObject({ name: 'BrokerFailure', kind: 'unreachable' });
  });

  it('blocked and unblocked notices do not disturb the consumer', async () => {
    const to = await listening();
    to.method(0, 10, 60, Buffer.from('\u0003low'));
    to.method(0, 10, 61);
    to.deliver(Buffer.from('x'));
    await until('the message has come', () => bodies.length === 1);
  });

  it('an aborted connection sends the close method', async () => {
    const to = await listening();
    stop.abort();
    await ended;
    await until('it said so', () => to.requests.at(-1) === '10.50');
  });
});
