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

/** Creates a caller over scripted outcomes; the last outcome repeats. */
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
  /** Returns the call's outcome while the clock advances. */
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
  test('caller sends a read up to three times after closed connections and server errors', async () => {
    const lucky = setUp(down, answerOf(503, {}), answerOf(200, {}));
    expect(await lucky.outcome()).toBe(200);
    expect(lucky.caller.calls).toBe(3);
    const unlucky = setUp(down);
    expect(await unlucky.outcome()).toMatchObject({ cause: down, message: down.message });
    expect(unlucky.caller.calls).toBe(3);
  });

  test('caller doubles the pause before each retry', async () => {
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

  test('caller retries a timeout once', async () => {
    const { caller, outcome } = setUp('timeout');
    expect(await outcome()).toMatchObject({ kind: 'timeout' });
    expect(caller.calls).toBe(2);
  });

  test('caller returns every answer below 500 without retry', async () => {
    for (const status of [200, 401, 404, 409]) {
      const { caller, outcome } = setUp(answerOf(status, {}));
      expect(await outcome()).toBe(status);
      expect(caller.calls).toBe(1);
    }
  });

  test('caller waits for a short Retry-After and throws on a long one', async () => {
    const short = setUp(answerOf(429, {}, { 'retry-after': '2' }), answerOf(200, {}));
    expect(await short.outcome()).toBe(200);
    const long = setUp(answerOf(429, {}, { 'retry-after': '60' }));
    expect(await long.outcome()).toMatchObject({ kind: 'rateLimited', retryAfterMs: 60_000 });
    expect(long.caller.calls).toBe(1);
    // Shorter than the call's remaining time, but a worker can do other work meanwhile.
    const middling = setUp(answerOf(429, {}, { 'retry-after': '5' }));
    expect(await middling.outcome()).toMatchObject({ retryAfterMs: 5_000 });
    expect(middling.caller.calls).toBe(1);
  });

  test('caller does not retry the probe after an outage', async () => {
    const { caller, clock, outcome } = setUp(down);
    await outcome();
    await clock.advance(30_000);
    await outcome();
    expect(caller.calls).toBe(4);
  });

  test('an outage in one service does not block another service', async () => {
    const { caller, outcome } = setUp(down, down, down, answerOf(200, {}));
    await outcome();
    const nova = { ...call, service: 'nova' } as const;
    expect((await caller.call(nova, signal)).status).toBe(200);
  });

  test("an error from the call's check opens the breaker like other failures", async () => {
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
    // The breaker refused the second call.
    expect(caller.calls).toBe(1);
  });

  test('caller reports every sent request with its outcome', async () => {
    const { samples, outcome } = setUp(down, answerOf(503, {}), answerOf(404, {}));
    await outcome();
    expect(samples.map((sample) => sample.outcome)).toEqual(['unreachable', 503, 404]);
  });

  test('caller stops waiting when the signal aborts', async () => {
    const { caller, clock } = setUp(down);
    const given = new AbortController();
    const answer = caller.call(call, given.signal);
    await clock.advance(0);
    given.abort(new Error('given up'));
    await expect(answer).rejects.toThrow('given up');
    expect(caller.calls).toBe(1);
  });
});
