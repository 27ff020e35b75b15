import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { AnsweredRequest } from './access-log.ts';
import type { Admit } from './admission.ts';
import type { HttpServer } from './app.ts';
import { HttpProblem } from './problem.ts';
import { createHttpServer, listen } from './server.ts';

const open: { readonly app: HttpServer; readonly stop: AbortController }[] = [];
const lines: string[] = [];
const destination = { write: (line: string) => void lines.push(line) };

afterEach(async () => {
  for (const { app, stop } of open.splice(0)) {
    stop.abort(new Error('done'));
    await app.close();
  }
  lines.length = 0;
});

/** Admits every request with an `x-name` header; `x-provider` selects the provider. */
const byName: Admit = async ({ headers }) => {
  const { 'x-name': name, 'x-provider': provider } = headers;
  if (typeof name !== 'string') throw new HttpProblem(401, 'TokenRequired', 'give a name');
  return { name, providers: ['*'], ...(typeof provider === 'string' ? { provider } : {}) };
};

/** Creates a server with one slot per caller and provider, without routes. */
async function make() {
  const clock = createFakeClock();
  const answered: AnsweredRequest[] = [];
  const app = await createHttpServer({
    title: 'test',
    clock,
    log: createLogger({ part: 'test', level: 'info', destination }),
    health: createHealth(),
    about,
    registry: new Registry(),
    inFlightLimit: 1,
    deadlineMs: 1000,
    onAnswer: (request) => void answered.push(request),
  });
  const stop = new AbortController();
  open.push({ app, stop });
  return { app, clock, answered, stop };
}

/** Creates a server with a slow route (runs until `finish` resolves) and an obedient route (stops on abort). */
async function server() {
  const { app, clock, answered, stop } = await make();
  const work = {
    begun: 0,
    ended: 0,
    abortReasons: [] as unknown[],
    finish: Promise.withResolvers<void>(),
  };
  app.get('/v1/slow', { config: { admit: byName } }, async (request) => {
    work.begun += 1;
    request.work.addEventListener('abort', () => work.abortReasons.push(request.work.reason));
    await work.finish.promise;
    work.ended += 1;
    return 'done';
  });
  app.get('/v1/obedient', { config: { admit: byName } }, async (request) => {
    work.begun += 1;
    await new Promise((_, reject) =>
      request.work.addEventListener('abort', () => reject(new Error('the work was stopped'))),
    );
  });
  app.get('/v1/quick', { config: { admit: byName } }, async () => 'ok');
  const { url } = await listen(app, { host: '127.0.0.1', port: 0 }, stop.signal);
  const get = async (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url + path, { headers, ...(signal ? { signal } : {}) });
  const status = async (path: string, headers: Record<string, string>) =>
    (await get(path, headers)).status;
  return { app, clock, answered, work, get, status };
}

describe('request slots', () => {
  it('request slots are separate per caller and provider', async () => {
    const { work, get, status } = await server();
    const slow = get('/v1/slow', { 'x-name': 'a', 'x-provider': 'p' });
    await expect.poll(() => work.begun).toBe(1);
    expect(await status('/v1/quick', { 'x-name': 'a', 'x-provider': 'p' })).toBe(429);
    expect(await status('/v1/quick', { 'x-name': 'b', 'x-provider': 'p' })).toBe(200);
    expect(await status('/v1/quick', { 'x-name': 'a', 'x-provider': 'q' })).toBe(200);
    work.finish.resolve();
    expect((await slow).status).toBe(200);
    await expect.poll(() => status('/v1/quick', { 'x-name': 'a', 'x-provider': 'p' })).toBe(200);
  });

  it('a slot stays occupied after the caller disconnects, until the work has ended', async () => {
    const { work, get, status } = await server();
    const leave = new AbortController();
    const left = get('/v1/slow', { 'x-name': 'a' }, leave.signal);
    await expect.poll(() => work.begun).toBe(1);
    leave.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => work.abortReasons.length).toBe(1);
    expect(await status('/v1/slow', { 'x-name': 'a' })).toBe(429);
    expect(work.begun).toBe(1);
    work.finish.resolve();
    await expect.poll(() => status('/v1/quick', { 'x-name': 'a' })).toBe(200);
  });

  it('health, metrics and docs routes need no caller slot', async () => {
    const { work, get, status } = await server();
    const slow = get('/v1/slow', { 'x-name': 'a' });
    await expect.poll(() => work.begun).toBe(1);
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
      expect(await status(path, {})).toBe(200);
    }
    work.finish.resolve();
    await slow;
  });
});

describe('request work', () => {
  it('request work is aborted when the caller disconnects, and its slot becomes free', async () => {
    const { work, answered, get, status } = await server();
    for (let round = 1; round <= 5; round++) {
      const leave = new AbortController();
      const left = get('/v1/obedient', { 'x-name': 'a' }, leave.signal);
      await expect.poll(() => work.begun).toBe(round);
      leave.abort();
      await expect(left).rejects.toThrow();
      await expect.poll(() => status('/v1/quick', { 'x-name': 'a' })).toBe(200);
    }
    expect(answered.filter(({ status: code }) => code === 499)).toHaveLength(5);
  });

  it('request work is aborted at the deadline, and the response is 503 with Retry-After', async () => {
    const { work, clock, answered, get } = await server();
    const answer = get('/v1/obedient', { 'x-name': 'a' });
    await expect.poll(() => work.begun).toBe(1);
    await clock.advance(1000);
    const { status, headers } = await answer;
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(answered).toMatchObject([{ route: '/v1/obedient', status: 503, seconds: 1 }]);
    expect(await (await answer).json()).toMatchObject({ code: 'DeadlineReached' });
  });

  it('quick request work leaves no timer', async () => {
    const { clock, status } = await server();
    expect(await status('/v1/quick', { 'x-name': 'a' })).toBe(200);
    expect(clock.waits).toEqual([]);
  });
});

it('adding a route under /v1 without an admit function throws', async () => {
  const { app } = await make();
  expect(() => app.get('/v1/open', async () => 'ok')).toThrow('does not declare who may call it');
});

it('the access log contains caller and provider, never the token', async () => {
  const { get } = await server();
  await get('/v1/quick?token=t0k3n', { 'x-name': 'ann', 'x-provider': 'biz-1' });
  await expect.poll(() => lines.join('')).toContain('"caller":"ann","provider":"biz-1"');
  expect(lines.join('')).not.toContain('t0k3n');
});
