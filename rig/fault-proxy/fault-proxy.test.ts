import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { Client } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import {
  caCert,
  clientCert,
  clientKey,
  serverCert,
  serverKey,
} from '../../src/kube/testing/certificates.ts';
import { line, type Script, startScriptedServer } from '../../src/kube/testing/scripted-server.ts';
import { startControl } from './control.ts';
import { type FaultProxy, type FaultProxyOptions, startFaultProxy } from './fault-proxy.ts';

const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

const hello: Script = ({ method, path }, response) => void response.end(`${method} ${path}`);

/** A server that counts what it carries out, a proxy before it, and a client with one connection. */
async function setUp(script: Script = hello, options: Partial<FaultProxyOptions> = {}) {
  const server = await startScriptedServer(script);
  const proxy = await startFaultProxy({ target: server.url, ...options });
  const client = new Client(proxy.url);
  opened.push(server, proxy, { [Symbol.asyncDispose]: () => client.destroy() });
  return { server, proxy, client };
}

async function get(client: Client, path = '/a') {
  const { statusCode, headers, body } = await client.request({ method: 'GET', path });
  return { status: statusCode, headers, text: await body.text() };
}

/** Whether something ends within a time in which it would have ended if nothing held it up. */
async function hangs(work: Promise<unknown>): Promise<boolean> {
  const late = new Promise((resolve) => setTimeout(resolve, 200, 'late'));
  return (await Promise.race([work.catch(() => 'failed'), late])) === 'late';
}

describe('a proxy without rules', () => {
  it('changes nothing, and knows what was asked', async () => {
    const { proxy, client } = await setUp();
    expect(await get(client, '/a?b=c')).toMatchObject({ status: 200, text: 'GET /a' });
    expect(proxy.requests).toMatchObject([{ method: 'GET', path: '/a?b=c' }]);
  });

  it('shows the identity it was given to a server that asks for client certificates', async () => {
    const tls = { cert: serverCert, key: serverKey, ca: caCert, requestCert: true };
    const server = await startScriptedServer(hello, tls);
    const identity = { ca: caCert, cert: clientCert, key: clientKey };
    const proxy = await startFaultProxy({ target: server.url, identity });
    const access = proxy.through({ server: server.url, ca: caCert, clientCert, clientKey });
    expect(access).toEqual({ server: proxy.url, ca: proxy.ca });
    const client = new Client(proxy.url, { connect: { ca: proxy.ca ?? '' } });
    opened.push(server, proxy, { [Symbol.asyncDispose]: () => client.destroy() });
    expect((await get(client)).text).toBe('GET /a');
    expect(server.requests[0]?.socket).toMatchObject({ authorized: true });
  });

  it('exchanges texts in answers', async () => {
    const { client } = await setUp((_, response) => response.end('see http://old/x'), {
      rewrite: { 'http://old': 'http://new' },
    });
    expect((await get(client)).text).toBe('see http://new/x');
  });
});

describe('faults of a request', () => {
  it('meet as often as they are told to, those they are told to', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'answer', method: 'GET', path: '^/b', status: 503, skip: 1, times: 1 });
    const seen = [];
    for (const path of ['/a', '/b', '/b', '/b']) seen.push((await get(client, path)).status);
    expect(seen).toEqual([200, 200, 503, 200]);
    expect(proxy.rules).toMatchObject([{ met: 1 }]);
  });

  it('answers for the server: a Status with Retry-After, an expired continue, a page that is not UTF-8', async () => {
    const { server, proxy, client } = await setUp();
    proxy.add({ fault: 'answer', path: 'continue=', status: 410 });
    proxy.add({ fault: 'answer', path: '/busy', status: 429, headers: { 'retry-after': '7' } });
    proxy.add({ fault: 'answer', path: '/page', status: 503, base64: 'vK268Q==' });
    const expired = await get(client, '/a?continue=x');
    expect(JSON.parse(expired.text)).toMatchObject({
      kind: 'Status',
      code: 410,
      reason: 'Expired',
    });
    expect((await get(client, '/busy')).headers).toMatchObject({ 'retry-after': '7' });
    const { body } = await client.request({ method: 'GET', path: '/page' });
    expect(Buffer.from(await body.arrayBuffer()).toString('hex')).toBe('bcadbaf1');
    expect(server.requests).toEqual([]);
  });

  it('takes a request and never answers it', async () => {
    const { server, proxy, client } = await setUp();
    proxy.add({ fault: 'hang' });
    expect(await hangs(get(client))).toBe(true);
    expect(server.requests).toEqual([]);
  });

  it('resets the connection before the server knows', async () => {
    const { server, proxy, client } = await setUp();
    proxy.add({ fault: 'reset', times: 1 });
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(server.requests).toEqual([]);
    expect((await get(client)).status).toBe(200);
  });

  it('loses the answer after the server has carried the request out', async () => {
    const { server, proxy, client } = await setUp();
    proxy.add({ fault: 'lost-answer', ending: 'reset' });
    await expect(get(client)).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  it('gives half an answer, then nothing', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'half-answer' });
    const { statusCode, body } = await client.request({ method: 'GET', path: '/a' });
    const pieces: string[] = [];
    body.on('data', (piece: Buffer) => pieces.push(String(piece))).on('error', () => undefined);
    expect(await hangs(once(body, 'end'))).toBe(true);
    expect([statusCode, pieces.join('')]).toEqual([200, 'GET']);
  });

  it('lets an answer trickle, and another one never end', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'slow-answer', path: '/slow', bytesPerSecond: 1000 });
    expect((await get(client, '/slow')).text).toBe('GET /slow');
    proxy.add({ fault: 'endless-answer', path: '/endless' });
    const { body } = await client.request({ method: 'GET', path: '/endless' });
    let size = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > 1_000_000) break;
    }
    expect(size).toBeGreaterThan(1_000_000);
  });

  it('delays beside another fault', async () => {
    const waits: number[] = [];
    const sleep = (ms: number) => Promise.resolve(void waits.push(ms));
    const clock = { now: () => new Date(), monotonicMs: () => 0, sleep };
    const { proxy, client } = await setUp(hello, { clock, random: () => 0.5 });
    proxy.add({ fault: 'delay', ms: 100, spreadMs: 20 });
    proxy.add({ fault: 'answer', status: 429 });
    expect((await get(client)).status).toBe(429);
    expect(waits).toEqual([110]);
  });
});

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

  it('passes anything over plain TCP, and cuts it after some bytes', async () => {
    const echo = createServer((socket: Socket) => void socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port } = echo.address() as { port: number };
    const proxy = await startFaultProxy({ target: `tcp://127.0.0.1:${port}` });
    opened.push({ [Symbol.asyncDispose]: async () => void echo.close() }, proxy);
    expect(await echoed(proxy, 'hello')).toBe('hello');
    proxy.add({ fault: 'cut', bytes: 2 });
    expect(await echoed(proxy, 'hello')).toBe('he');
  });
});

/** What comes back until as much came as was sent, or the connection ended. */
async function echoed(proxy: FaultProxy, text: string): Promise<string> {
  const socket = createConnection(proxy.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
  let seen = '';
  const closed = once(socket, 'close');
  socket.on('data', (piece: Buffer) => {
    seen += piece.toString();
    if (seen.length === text.length) socket.destroy();
  });
  await closed;
  return seen;
}

describe('faults of watch events', () => {
  const events = [
    line('ADDED', { metadata: { namespace: 'n', name: 'a', resourceVersion: '1' } }),
    line('ADDED', { metadata: { namespace: 'n', name: 'b', resourceVersion: '2' } }),
    line('BOOKMARK', { metadata: { resourceVersion: '9' } }),
  ];
  const watching: Script = (_, response) => {
    // In pieces that are no lines.
    response.write(events.join('').slice(0, 10));
    response.end(events.join('').slice(10));
  };

  it.each([
    ['drop', { type: 'ADDED', object: '^n/a$' }, ['b 2', ' 9']],
    ['twice', { object: '^n/a$' }, ['a 1', 'a 1', 'b 2', ' 9']],
    ['swap', { object: '^n/a$' }, ['b 2', 'a 1', ' 9']],
    ['gone', { object: '^n/b$' }, ['a 1', '410']],
    ['own-version', { type: 'BOOKMARK' }, ['a 1', 'b 2', ' 2']],
    ['delay', { object: '^n/a$', ms: 1 }, ['a 1', 'b 2', ' 9']],
  ] as const)('%s', async (action, match, expected) => {
    const { proxy, client } = await setUp(watching);
    proxy.add({ fault: 'watch-event', action, ...match });
    const { text } = await get(client, '/pods?watch=true');
    const seen = text.trim().split('\n').map(described);
    expect(seen).toEqual(expected);
  });

  it('leaves other answers alone', async () => {
    const { proxy, client } = await setUp(watching);
    proxy.add({ fault: 'watch-event', action: 'drop' });
    expect((await get(client, '/pods')).text).toBe(events.join(''));
  });
});

function described(text: string): string {
  const { object } = JSON.parse(text) as {
    object: { code?: number; metadata: { name?: string; resourceVersion?: string } };
  };
  return object.code === undefined
    ? `${object.metadata.name ?? ''} ${object.metadata.resourceVersion}`
    : String(object.code);
}

it('is commanded over HTTP', async () => {
  const { proxy, client } = await setUp();
  const control = await startControl(proxy);
  opened.push(control);
  const added = await fetch(`${control.url}/rules`, {
    method: 'POST',
    body: JSON.stringify({ fault: 'answer', status: 503 }),
  });
  expect([added.status, await added.json()]).toEqual([201, { id: '1' }]);
  expect((await get(client)).status).toBe(503);
  expect(await (await fetch(`${control.url}/rules`)).json()).toMatchObject([{ id: '1', met: 1 }]);
  expect(await (await fetch(`${control.url}/requests`)).json()).toHaveLength(1);
  const refused = await fetch(`${control.url}/rules`, { method: 'POST', body: '{"fault":"no"}' });
  expect(refused.status).toBe(400);
  await fetch(`${control.url}/rules/1`, { method: 'DELETE' });
  expect((await get(client)).status).toBe(200);
});
