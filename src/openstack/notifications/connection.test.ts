import { getEventListeners, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../time/clock.ts';
import { until } from '../../time/fake-clock.ts';
import { encodeFrame } from './amqp/frames.ts';
import type { BrokerAddress } from './broker-address.ts';
import { BrokerFailure } from './broker-failure.ts';
import { type BrokerLogin, listenByAmqp } from './connection.ts';

const times = { answerMs: 300, heartbeatSeconds: 1, bindMs: 1_000, missingMs: 100 };
const silentListener = { onBound: () => undefined, onMessage: () => undefined };
const cleanUp: (() => void)[] = [];

afterEach(() => {
  for (const one of cleanUp.splice(0)) one();
});

/** Starts a TCP peer that runs `act` on each connection. */
async function peer(act: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    socket.resume();
    act(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as { port: number };
  return { sockets, port };
}

function listenTo(port: number, tls = false, signal = new AbortController().signal) {
  return listenAt({ host: '127.0.0.1', port, tls }, true, signal);
}

function listenAt(
  address: BrokerAddress,
  isTrusted: boolean,
  signal = new AbortController().signal,
) {
  const login = loginAt(address, isTrusted);
  return listenByAmqp(systemClock, times)(login, silentListener, signal).catch(
    (error: unknown) => error,
  );
}

function loginAt(address: BrokerAddress, isTrusted: boolean): BrokerLogin {
  return { address, isTrusted, username: 'u', password: 'p', virtualHost: '/', tls: {} };
}

/** Sends a frame header with this length, then bytes without end. */
function endless(socket: Socket, length: number): void {
  const header = Buffer.from([1, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(length, 3);
  socket.write(header);
  const piece = Buffer.alloc(64 * 1024);
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

it.each([
  ['says nothing', () => undefined, 'unreachable', /no answer within/],
  ['hangs up', (socket: Socket) => socket.destroy(), 'unreachable', /./],
  [
    'speaks HTTP',
    (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    'protocol',
    /./,
  ],
  [
    'wants another AMQP',
    (socket: Socket) => socket.end('AMQP\u0000\u0001\u0000\u0000'),
    'protocol',
    /version/,
  ],
  [
    'never ends a frame',
    (socket: Socket) => endless(socket, 1_000_000_000),
    'protocol',
    /1000000000 bytes/,
  ],
] as const)('a peer that %s is disconnected', async (_name, act, kind, message) => {
  const { port, sockets } = await peer(act);
  const failure = await listenTo(port);
  expect(failure).toBeInstanceOf(BrokerFailure);
  expect(failure).toMatchObject({ kind });
  expect(String(failure)).toMatch(message);
  await until('its socket is closed', () => sockets.size === 0);
});

it('a closed port is reported as unreachable', async () => {
  const { port } = await peer(() => undefined);
  for (const one of cleanUp.splice(0)) one();
  expect(await listenTo(port)).toMatchObject({ kind: 'unreachable' });
});

it('a peer without TLS is a certificate failure when TLS is required', async () => {
  const { port } = await peer((socket) => socket.once('data', () => socket.end('AMQP plain text')));
  expect(await listenTo(port, true)).toMatchObject({ kind: 'certificate' });
});

it.each([false, true])(
  'a host name resolving to an inner address is denied unless trusted: TLS %s',
  async (tls) => {
    let connections = 0;
    const { port } = await peer((socket) => {
      connections++;
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    const address = { host: 'localhost', port, tls };
    const failure = await listenAt(address, false);
    expect(failure).toMatchObject({ kind: 'denied' });
    expect(String(failure)).toContain(', a loopback address');
    const kind = tls ? 'certificate' : 'protocol';
    expect(await listenAt(address, true)).toMatchObject({ kind });
    expect(connections).toBe(1);
  },
);

it('a peer that sends heartbeats but reads nothing is disconnected and its socket closed', async () => {
  const { port, sockets } = await peer((socket) => {
    socket.pause();
    const start = { type: 1, channel: 0, payload: Buffer.from([0, 10, 0, 10]) };
    socket.write(encodeFrame(start));
    const beat = encodeFrame({ type: 8, channel: 0, payload: Buffer.alloc(0) });
    const beating = setInterval(() => socket.write(beat), 100);
    socket.on('close', () => clearInterval(beating));
  });
  const address = { host: '127.0.0.1', port, tls: false };
  // Exceeds the kernel's send buffer for a peer that does not read.
  const login = { ...loginAt(address, true), password: 'p'.repeat(32 * 1024 * 1024) };
  const listening = listenByAmqp(systemClock, times)(
    login,
    silentListener,
    new AbortController().signal,
  );
  await expect(listening).rejects.toMatchObject({ message: 'no answer within 300 ms' });
  await until('its socket is closed', () => sockets.size === 0);
});

it("an abort during connect rejects with the signal's reason and closes the socket", async () => {
  const { port, sockets } = await peer(() => undefined);
  const stop = new AbortController();
  const ended = listenTo(port, false, stop.signal);
  await until('it is connected', () => sockets.size === 1);
  const reason = new Error('enough');
  stop.abort(reason);
  expect(await ended).toBe(reason);
  await until('its socket is closed', () => sockets.size === 0);
});

it('a peer that ignores the close method is disconnected at once, without waiting for a timer', async () => {
  const stop = new AbortController();
  const { promise: closed, resolve } = Promise.withResolvers<unknown>();
  const { port } = await peer((socket) => {
    void once(socket, 'end').then(resolve);
    socket.once('data', () => stop.abort());
  });
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    await listenTo(port, false, stop.signal);
    await closed;
  } finally {
    vi.useRealTimers();
  }
});

it('an aborted signal opens no connection', async () => {
  const { port, sockets } = await peer(() => undefined);
  const reason = new Error('enough');
  expect(await listenTo(port, false, AbortSignal.abort(reason))).toBe(reason);
  expect(sockets.size).toBe(0);
});

it('repeated connections leave no abort listeners on the signal', async () => {
  const { port } = await peer((socket) => socket.destroy());
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n++)
    expect(await listenTo(port, false, signal)).toBeInstanceOf(BrokerFailure);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
