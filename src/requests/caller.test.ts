import { describe, expect, test } from 'vitest';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { kindOf, retryAfterOf } from './answer.ts';
import { type Call, createCaller, type RequestSample } from './caller.ts';
import { answerOf } from './fake-caller.ts';
import { RequestError } from './request-error.ts';
import type { HttpAnswer, Transport } from './transport.ts';

const call: Call = { service: 'neutron', method: 'GET', url: new URL('http://neutron/v2.0/ports') };
const signal = new AbortController().signal;
const down = new RequestError('connection refused', { service: 'neutron', kind: 'unreachable' });

/** A caller over a script of outcomes; the last one is repeated. */
function setUp(...script: (HttpAnswer | RequestError | 'timeout')[]) {
  const clock = createFakeClock();
  const samples: RequestSample[] = [];
  let sent = 0;
  const transport: Transport = {
    async send(request) {
      const outcome = script[Math.min(sent, script.length - 1)];
      sent += 1;
      if (outcome === 'timeout') {
        await clock.sleep(request.timeoutMs);
        throw new RequestError('no answer', { service: request.service, kind: 'timeout' });
      }
      if (outcome instanceof Error) throw outcome;
      return outcome ?? answerOf(200, {});
    },
    async [Symbol.asyncDispose]() {},
  };
  const caller = createCaller({
    transport,
    clock,
    random: () => 0.5,
    log: createLogger({ part: 'test', level: 'silent' }),
    tls: {},
    timeoutMs: 10_000,
    failureOf: ({ service }, answer, now) => {
      const retryAfterMs = retryAfterOf(answer, now);
      return new RequestError(`answered ${answer.status}`, {
        service,
        kind: kindOf(answer.status),
        status: answer.status,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    },
    onRequest: (sample) => samples.push(sample),
  });
  /** The outcome of a call while time goes on. */
  const outcome = async (): Promise<unknown> => {
    const settled: unknown[] = [];
    const done = caller.call(call, signal).then(
      (answer) => settled.push(answer.status),
      (error: unknown) => settled.push(error),
    );
    for (let i = 0; settled.length === 0 && i < 200; i++) await clock.advance(250);
    await done;
    return settled[0];
  };
  return { caller, clock, samples, outcome };
}

describe('createCaller', () => {
  test('repeats a read after closed connections and server errors, three times in all', async () => {
    const lucky = setUp(down, answerOf(503, {}), answerOf(200, {}));
    expect(await lucky.outcome()).toBe(200);
    expect(lucky.caller.calls).toBe(3);
    const unlucky = setUp(down);
    expect(await unlucky.outcome()).toMatchObject({ cause: down, message: down.message });
    expect(unlucky.caller.calls).toBe(3);
  });

  test('pauses longer before each repeat', async () => {
    const { caller, clock } = setUp(down, down, answerOf(200, {}));
    const answer = caller.call(call, signal);
    await clock.advance(199);
    expect(caller.calls).toBe(1);
    await clock.advance(1);
    expect(caller.calls).toBe(2);
    await clock.advance(399);
    expect(caller.calls).toBe(2);
    await clock.advance(1);
    expect((await answer).status).toBe(200);
  });

  test('repeats a timeout once', async () => {
    const { caller, outcome } = setUp('timeout');
    expect(await outcome()).toMatchObject({ kind: 'timeout' });
    expect(caller.calls).toBe(2);
  });

  test('hands on every answer below 500 at once', async () => {
    for (const status of [200, 401, 404, 409]) {
      const { caller, outcome } = setUp(answerOf(status, {}));
      expect(await outcome()).toBe(status);
      expect(caller.calls).toBe(1);
    }
  });

  test('waits a short Retry-After and hands a long one on', async () => {
    const short = setUp(answerOf(429, {}, { 'retry-after': '2' }), answerOf(200, {}));
    expect(await short.outcome()).toBe(200);
    const long = setUp(answerOf(429, {}, { 'retry-after': '60' }));
    expect(await long.outcome()).toMatchObject({ kind: 'rateLimited', retryAfterMs: 60_000 });
    expect(long.caller.calls).toBe(1);
    // Shorter than what is left of the call's time, but a worker can do something else meanwhile.
    const middling = setUp(answerOf(429, {}, { 'retry-after': '5' }));
    expect(await middling.outcome()).toMatchObject({ retryAfterMs: 5_000 });
    expect(middling.caller.calls).toBe(1);
  });

  test('does not repeat the probe of a service that was down', async () => {
    const { caller, clock, outcome } = setUp(down);
    await outcome();
    await clock.advance(30_000);
    await outcome();
    expect(caller.calls).toBe(4);
  });

  test('one service that is down does not stop another', async () => {
    const { caller, outcome } = setUp(down, down, down, answerOf(200, {}));
    await outcome();
    const nova = { ...call, service: 'nova' } as const;
    expect((await caller.call(nova, signal)).status).toBe(200);
  });

  test('what the call makes of an answer is a failure like any other', async () => {
    const { caller } = setUp(answerOf(401, {}));
    const refused = new RequestError('refused', { service: 'neutron', kind: 'badCredential' });
    const checked: Call = {
      ...call,
      check: () => {
        throw refused;
      },
    };
    await expect(caller.call(checked, signal)).rejects.toMatchObject({ cause: refused });
    await expect(caller.call(checked, signal)).rejects.toMatchObject({ kind: 'badCredential' });
    // The second one was answered by the circuit breaker.
    expect(caller.calls).toBe(1);
  });

  test('reports every request that was sent', async () => {
    const { samples, outcome } = setUp(down, answerOf(503, {}), answerOf(404, {}));
    await outcome();
    expect(samples.map((sample) => sample.outcome)).toEqual(['unreachable', 503, 404]);
  });

  test('stops waiting when the caller gives up', async () => {
    const { caller, clock } = setUp(down);
    const given = new AbortController();
    const answer = caller.call(call, given.signal);
    await clock.advance(0);
    given.abort(new Error('given up'));
    await expect(answer).rejects.toThrow('given up');
    expect(caller.calls).toBe(1);
  });
});
