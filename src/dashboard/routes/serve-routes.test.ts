import { expect, it } from 'vitest';
import * as z from 'zod';
import { until } from '../../time/fake-clock.ts';
import { reasonOf } from '../testing/browser.ts';
import { startDashboard, type TestRights } from '../testing/dashboard-fixture.ts';
import { defineRoute, type JsonRoute } from './json-route.ts';

interface Call {
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly end: (answer: object) => void;
  readonly fail: (error: Error) => void;
}

/** Returns a route whose answers come from the test. */
function heldRoute(method: 'GET' | 'POST', calls: Call[]): JsonRoute<TestRights> {
  return defineRoute({
    method,
    path: '/api/held/:id',
    input: z.object({ id: z.coerce.number().max(20) }),
    answer: async (input, { signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<object>();
      calls.push({ input, signal, end: resolve, fail: reject });
      return promise;
    },
  });
}

it('a hanging route gets 503 at the deadline, and its signal aborts', async () => {
  const calls: Call[] = [];
  const { browser, clock } = await startDashboard([heldRoute('GET', calls)]);
  const user = await browser();
  const waiting = user.fetch({ path: '/api/held/1' });
  await until('the call', () => calls.length === 1);
  await clock.advance(59_999);
  expect(calls[0]?.signal.aborted).toBe(false);
  await clock.advance(1);
  const answer = await waiting;
  expect([answer.status, reasonOf(answer)]).toEqual([503, 'DeadlineReached']);
  expect(calls[0]?.signal.aborted).toBe(true);
});

it('the signal aborts when the browser disconnects', async () => {
  const calls: Call[] = [];
  const { browser } = await startDashboard([heldRoute('GET', calls)]);
  const user = await browser();
  const leaving = new AbortController();
  const left = user.fetch({ path: '/api/held/1', signal: leaving.signal });
  await until('the call', () => calls.length === 1);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await until('the abort', () => calls[0]?.signal.aborted === true);
});

it('an ending dashboard answers requests in work with 503', async () => {
  const calls: Call[] = [];
  const { browser, dashboard } = await startDashboard([heldRoute('GET', calls)]);
  const user = await browser();
  const waiting = user.fetch({ path: '/api/held/1' });
  await until('the call', () => calls.length === 1);
  await dashboard[Symbol.asyncDispose]();
  expect(reasonOf(await waiting)).toBe('Stopping');
  expect(calls[0]?.signal.aborted).toBe(true);
});

it('actions run one after the other in arrival order, also after a failure', async () => {
  const calls: Call[] = [];
  const { browser } = await startDashboard([heldRoute('POST', calls)]);
  const user = await browser();
  const first = user.write('/api/held/1', {});
  await until('the first call', () => calls.length === 1);
  const second = user.write('/api/held/2', { id: 3 });
  expect((await user.fetch({ path: '/api/nics' })).status).toBe(200);
  expect(calls.map(({ input }) => input)).toEqual([{ id: 1 }]);
  calls[0]?.fail(new Error('token abc123 refused'));
  const failed = await first;
  expect([failed.status, reasonOf(failed)]).toEqual([500, 'Internal']);
  expect(failed.text).not.toContain('abc123');
  await until('the second call', () => calls.length === 2);
  calls[1]?.end({ done: true });
  expect((await second).text).toBe('{"done":true}');
  expect(calls.map(({ input }) => input)).toEqual([{ id: 1 }, { id: 2 }]);
});

it.each(['21', 'x', '1%00'])('an unusable input %s gets 400 with the field', async (id) => {
  const { browser } = await startDashboard([heldRoute('GET', [])]);
  const answer = await (await browser()).fetch({ path: `/api/held/${id}` });
  expect([answer.status, reasonOf(answer)]).toEqual([400, 'InvalidRequest']);
  expect(answer.text).toContain('id: ');
});
