import { once } from 'node:events';
import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import { until } from '../../src/time/fake-clock.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { clientOf, get, hangs, setUp, setUpEcho } from './proxy-in-test.ts';

describe('faults of connections', () => {
  it('a black hole freezes what is there, accepts new connections, and lets go when it is cleared', async () => {
    const { server, proxy, client } = await setUp();
    await get(client);
    const id = proxy.add({ fault: 'black-hole' });
    const frozen = get(client);
    expect(await hangs(frozen)).toBe(true);
    expect(proxy.rules).toMatchObject([{ met: 1 }]);
    const late = createConnection(proxy.port, '127.0.0.1');
    late.on('error', () => undefined);
    await once(late, 'connect');
    expect(await hangs(once(late, 'data'))).toBe(true);
    expect(proxy.rules).toMatchObject([{ met: 2 }]);
    expect(server.requests).toHaveLength(1);
    proxy.clear(id);
    await expect(frozen).rejects.toThrow();
    expect((await get(client)).status).toBe(200);
  });

  it('a black hole is met by who waits for an answer', async () => {
    const { proxy, client } = await setUp(() => undefined);
    const waiting = get(client);
    expect(await hangs(waiting)).toBe(true);
    const id = proxy.add({ fault: 'black-hole' });
    expect(proxy.rules).toMatchObject([{ met: 1 }]);
    proxy.clear(id);
    await expect(waiting).rejects.toThrow();
  });

  it('one that is gone refuses, and listens on the same port afterwards', async () => {
    const { proxy, client } = await setUp();
    await get(client);
    proxy.add({ fault: 'gone' });
    await expect(get(client)).rejects.toThrow();
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    proxy.clear();
    expect((await get(client)).status).toBe(200);
  });

  it('one without a backend resets what comes and what is there, and counts who comes', async () => {
    const { server, proxy, client } = await setUp();
    await get(client);
    const id = proxy.add({ fault: 'no-backend' });
    await expect(get(client)).rejects.toThrow();
    const met = proxy.rules[0]?.met ?? 0;
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(proxy.rules[0]?.met).toBeGreaterThan(met);
    proxy.clear(id);
    expect((await get(client)).status).toBe(200);
    expect(server.requests).toHaveLength(2);
  });

  it('what stood once is over once it has met as often as it was told to', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'no-backend', times: 1 });
    await expect(get(client)).rejects.toThrow();
    expect((await get(client)).status).toBe(200);
    const [connections] = [proxy.requests.length];
    proxy.add({ fault: 'answer', path: '/nothing', status: 500 });
    expect((await get(client)).status).toBe(200);
    expect(proxy.requests.length).toBe(connections + 1);
  });

  it('a black hole that is spent swallows no connection that was made after it', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'black-hole', times: 1 });
    expect(await hangs(get(client))).toBe(true);
    const other = clientOf(proxy);
    expect((await get(other)).status).toBe(200);
    proxy.add({ fault: 'answer', path: '/nothing', status: 500 });
    expect((await get(other)).status).toBe(200);
  });

  it('one that is gone again before it has come back stays so', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'gone' });
    proxy.clear();
    proxy.add({ fault: 'gone' });
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    proxy.clear();
    await expect.poll(async () => (await get(client)).status).toBe(200);
  });

  it('a proxy that is closed while it is gone does not come back', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'gone' });
    await proxy.close();
    proxy.clear();
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('faults of plain TCP', () => {
  it('passes anything, until a connection is cut after some bytes of its answer', async () => {
    const { proxy, sockets } = await setUpEcho();
    expect(await echoed(proxy, 'hello')).toEqual({ text: 'hello', how: 'closed' });
    proxy.add({ fault: 'cut', bytes: 2 });
    expect(await echoed(proxy, 'hello')).toEqual({ text: 'he', how: 'ECONNRESET' });
    await expect.poll(() => sockets.size).toBe(0);
  });

  it('cuts nothing before the answer has so many bytes', async () => {
    const { proxy } = await setUpEcho();
    proxy.add({ fault: 'cut', bytes: 6 });
    expect(await echoed(proxy, 'hello')).toEqual({ text: 'hello', how: 'closed' });
    expect(await echoed(proxy, 'hello!!')).toEqual({ text: 'hello!', how: 'ECONNRESET' });
  });

  it('keeps the order of pieces that are delayed, and lets none of them through a black hole', async () => {
    const waiting: (() => void)[] = [];
    const sleep = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
    const clock = { now: () => new Date(), monotonicMs: () => 0, sleep };
    const { proxy, received } = await setUpEcho({ clock });
    proxy.add({ fault: 'delay', ms: 10, times: 1 });
    const socket = createConnection(proxy.port, '127.0.0.1');
    const seen: string[] = [];
    socket.on('error', () => undefined).on('data', (piece: Buffer) => seen.push(String(piece)));
    socket.write('a');
    await until('the first waits', () => waiting.length === 1);
    socket.write('b');
    expect(await hangs(once(socket, 'data'))).toBe(true);
    waiting.shift()?.();
    await until('both came back', () => seen.join('') === 'ab');
    proxy.add({ fault: 'delay', ms: 10, times: 1 });
    socket.write('c');
    await until('it waits', () => waiting.length === 1);
    proxy.add({ fault: 'black-hole' });
    waiting.shift()?.();
    expect(await hangs(once(socket, 'data'))).toBe(true);
    expect(received.join('')).toBe('ab');
    socket.destroy();
  });
});

/** What comes back until as much came as was sent, or the connection ended, and how it did. */
async function echoed(proxy: FaultProxy, text: string) {
  const socket = createConnection(proxy.port, '127.0.0.1');
  let how = 'closed';
  socket.on('error', (error: NodeJS.ErrnoException) => {
    how = error.code ?? '';
  });
  socket.on('end', () => {
    how = 'ended';
  });
  socket.write(text);
  let seen = '';
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('data', (piece: Buffer) => {
    seen += piece.toString();
    if (seen.length === text.length) socket.destroy();
  });
  await closed;
  return { text: seen, how };
}
