import { describe, expect, it } from 'vitest';
import { until } from '../../src/time/fake-clock.ts';
import { begunAnswer, clientOf, get, hangs, hello, setUp, setUpSecure } from './proxy-in-test.ts';

describe('faults of a request', () => {
  it('meet as often as they are told to, those they are told to', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'answer', method: 'GET', path: '^/b', status: 503, skip: 1, times: 1 });
    const seen = [];
    for (const path of ['/a', '/b', '/b', '/b']) seen.push((await get(client, path)).status);
    expect(seen).toEqual([200, 200, 503, 200]);
    expect(proxy.rules).toMatchObject([{ met: 1 }]);
  });

  it('meet by chance when they are told to', async () => {
    const draws = [0.4, 0.6, 0.5];
    const { proxy, client } = await setUp(hello, { random: () => draws.shift() ?? 0 });
    proxy.add({ fault: 'answer', status: 503, chance: 0.5 });
    const seen = [];
    for (let time = 0; time < 4; time++) seen.push((await get(client)).status);
    expect(seen).toEqual([503, 200, 200, 503]);
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

  it('delays a request on its way: it arrives although its caller has left', async () => {
    const { server, proxy, client } = await setUp();
    proxy.add({ fault: 'delay', ms: 100 });
    const leave = new AbortController();
    const { signal } = leave;
    const left = client.request({ method: 'POST', path: '/late', body: 'x', signal });
    await until('the proxy has it', () => proxy.requests.length === 1);
    leave.abort();
    await expect(left).rejects.toThrow();
    await until('the server has it', () => server.requests.length === 1);
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/late', body: 'x' });
  });

  it('lets the server carry out what it loses the answer of, also when the caller has left', async () => {
    const gate = Promise.withResolvers<void>();
    let carriedOut = false;
    const { server, proxy, client } = await setUp((_, response) => {
      void gate.promise.then(() => {
        carriedOut = !response.destroyed;
        response.end();
      });
    });
    proxy.add({ fault: 'lost-answer' });
    const leave = new AbortController();
    const left = client.request({ method: 'POST', path: '/', body: 'x', signal: leave.signal });
    await until('the server has it', () => server.requests.length === 1);
    leave.abort();
    await expect(left).rejects.toThrow();
    expect(await hangs(client.request({ method: 'GET', path: '/other' }))).toBe(true);
    gate.resolve();
    await until('it is carried out', () => carriedOut);
  });
});

describe('an answer that stops in the middle', () => {
  it('hangs after half of it, or after as many bytes as were said', async () => {
    const { proxy, client } = await setUp();
    proxy.add({ fault: 'half-answer', times: 1 });
    expect(await begunAnswer(client)).toEqual({ status: 200, text: 'GET', how: 'hangs' });
    proxy.add({ fault: 'half-answer', bytes: 4 });
    expect(await begunAnswer(clientOf(proxy))).toEqual({ status: 200, text: 'GET ', how: 'hangs' });
  });

  it.each([
    ['HTTP', setUp],
    ['HTTPS', setUpSecure],
  ] as const)('is reset after its first half has come: %s', async (_, open) => {
    const { proxy, client } = await open();
    proxy.add({ fault: 'half-answer', ending: 'reset' });
    const broken = await begunAnswer(client);
    expect(broken).toEqual({ status: 200, text: 'GET', how: 'ECONNRESET' });
  });

  it('is never a whole one, however short it is', async () => {
    const { proxy, client } = await setUp((_, response) => response.end());
    proxy.add({ fault: 'half-answer', times: 1 });
    expect(await begunAnswer(client)).toEqual({ status: 200, text: '', how: 'hangs' });
    proxy.add({ fault: 'half-answer', bytes: 100 });
    expect(await begunAnswer(clientOf(proxy))).toMatchObject({ how: 'hangs' });
  });

  it('may be one that has no end', async () => {
    const { proxy, client } = await setUp((_, response) => void response.write('first second'));
    proxy.add({ fault: 'half-answer', bytes: 5 });
    expect(await begunAnswer(client)).toEqual({ status: 200, text: 'first', how: 'hangs' });
  });
});

describe('an answer that trickles', () => {
  it.each([10, 100_000])('does so with %d bytes in a second', async (bytesPerSecond) => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const clock = { now: () => new Date(), monotonicMs: () => 0, sleep };
    const length = 1000;
    const text = 'x'.repeat(length);
    const { proxy, client } = await setUp((_, response) => response.end(text), { clock });
    proxy.add({ fault: 'slow-answer', bytesPerSecond });
    expect((await get(client)).text).toBe(text);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo((length * 1000) / bytesPerSecond);
    // A timer rings every millisecond at most.
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(10);
  });

  it('comes while it is written, as that of a watch', async () => {
    const { proxy, client } = await setUp((_, response) => void response.write('first'));
    proxy.add({ fault: 'slow-answer', bytesPerSecond: 1000 });
    expect(await begunAnswer(client)).toEqual({ status: 200, text: 'first', how: 'hangs' });
  });
});

it('an answer that never ends comes as fast as it is read', async () => {
  const { proxy, client } = await setUp();
  proxy.add({ fault: 'endless-answer' });
  const { body } = await client.request({ method: 'GET', path: '/' });
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > 1_000_000) break;
  }
  expect(size).toBeGreaterThan(1_000_000);
});
