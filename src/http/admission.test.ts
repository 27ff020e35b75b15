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

/** Whoever gives a name is let in; `x-provider` is what the request is about. */
const byName: Admit = async ({ headers }) => {
  const { 'x-name': name, 'x-provider': provider } = headers;
  if (typeof name !== 'string') throw new HttpProblem(401, 'TokenRequired', 'give a name');
  return { name, providers: ['*'], ...(typeof provider === 'string' ? { provider } : {}) };
};

/** A server with one slot per caller and provider, and no routes yet. */
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

/** One whose work takes until it is let go, or told to stop. */
async function server() {
  const { app, clock, answered, stop } = await make();
  const work = { begun: 0, ended: 0, told: [] as unknown[], letGo: Promise.withResolvers<void>() };
  app.get('/v1/slow', { config: { admit: byName } }, async (request) => {
    work.begun += 1;
    request.work.addEventListener('abort', () => work.told.push(request.work.reason));
    await work.letGo.promise;
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

describe('slots', () => {
  it('are per caller and provider: who has taken them takes none from others', async () => {
    const { work, get, status } = await server();
    const slow = get('/v1/slow', { 'x-name': 'a', 'x-provider': 'p' });
    await expect.poll(() => work.begun).toBe(1);
    expect(await status('/v1/quick', { 'x-name': 'a', 'x-provider': 'p' })).toBe(429);
    expect(await status('/v1/quick', { 'x-name': 'b', 'x-provider': 'p' })).toBe(200);
    expect(await status('/v1/quick', { 'x-name': 'a', 'x-provider': 'q' })).toBe(200);
    work.letGo.resolve();
    expect((await slow).status).toBe(200);
    await expect.poll(() => status('/v1/quick', { 'x-name': 'a', 'x-provider': 'p' })).toBe(200);
  });

  it('are held by work whose caller has left until it has ended, and then no longer', async () => {
    const { work, get, status } = await server();
    const leave = new AbortController();
    const left = get('/v1/slow', { 'x-name': 'a' }, leave.signal);
    await expect.poll(() => work.begun).toBe(1);
    leave.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => work.told.length).toBe(1);
    expect(await status('/v1/slow', { 'x-name': 'a' })).toBe(429);
    expect(work.begun).toBe(1);
    work.letGo.resolve();
    await expect.poll(() => status('/v1/quick', { 'x-name': 'a' })).toBe(200);
  });

  it('are not asked for by health, nor shared between strangers’ docs and callers', async () => {
    const { work, get, status } = await server();
    const slow = get('/v1/slow', { 'x-name': 'a' });
    await expect.poll(() => work.begun).toBe(1);
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
      expect(await status(path, {})).toBe(200);
    }
    work.letGo.resolve();
    await slow;
  });
});

describe('work', () => {
  it('is stopped when its caller leaves, and its slot is free again', async () => {
    const { work, answered, get, status } = await server();
    for (let round = 1; round <= 5; round++) {
      const leave = new AbortController();
      const left = get('/v1/obedient', { 'x-name': 'a' }, leave.signal);
      await expect.poll(() => work.begun).toBe(round);
      leave.abort();
      await expect(left).rejects.toThrow();
      await expect.poll(() => status('/v1/quick', { 'x-name': 'a' })).toBe(200);
    }
    expect(answered.filter(({ status: said }) => said === 499)).toHaveLength(5);
  });

  it('is stopped at the deadline, and the caller is told to repeat', async () => {
    const { work, clock, answered, get } = await server();
    const answer = get('/v1/obedient', { 'x-name': 'a' });
    await expect.poll(() => work.begun).toBe(1);
    await clock.advance(1000);
    const { status, headers } = await answer;
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(answered).toMatchObject([{ route: '/v1/obedient', status: 503, seconds: 1 }]);
    expect(await (await answer).json()).toMatchObject({ code: 'DeadlineReached' });
  });

  it('leaves no timer behind when it was quick', async () => {
    const { clock, status } = await server();
    expect(await status('/v1/quick', { 'x-name': 'a' })).toBe(200);
    expect(clock.waits).toEqual([]);
  });
});

it('a route under /v1 that does not say who may call it does not come to be', async () => {
  const { app } = await make();
  expect(() => app.get('/v1/open', async () => 'ok')).toThrow('does not say who may call it');
});

it('the access log tells the caller and the provider, never the token', async () => {
  const { get } = await server();
  await get('/v1/quick?token=t0k3n', { 'x-name': 'ann', 'x-provider': 'biz-1' });
  await expect.poll(() => lines.join('')).toContain('"caller":"ann","provider":"biz-1"');
  expect(lines.join('')).not.toContain('t0k3n');
});
