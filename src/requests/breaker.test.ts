import { describe, expect, test } from 'vitest';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { Breaker, type BreakerOptions } from './breaker.ts';
import { type FailureKind, RequestError } from './request-error.ts';

const log = createLogger({ part: 'test', level: 'silent' });
const signal = new AbortController().signal;

function failure(kind: FailureKind, retryAfterMs?: number): RequestError {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new RequestError('it is down', { service: 'nova', kind, ...wait });
}

function setUp(options: Partial<BreakerOptions> = {}) {
  const clock = createFakeClock();
  const breaker = new Breaker({ clock, random: () => 0.5, log, ...options });
  let calls = 0;
  return {
    clock,
    breaker,
    get calls() {
      return calls;
    },
    fail: async (kind: FailureKind, retryAfterMs?: number): Promise<unknown> =>
      breaker
        .run(signal, async () => {
          calls += 1;
          throw failure(kind, retryAfterMs);
        })
        .catch((error: unknown) => error),
    succeed: async (): Promise<string> =>
      breaker.run(signal, async (probing) => {
        calls += 1;
        return probing ? 'probe' : 'normal';
      }),
  };
}

describe('Breaker', () => {
  test('an open breaker sends nothing until the window ends, and every caller gets the same error', async () => {
    const setting = setUp();
    const first = await setting.fail('unreachable');
    const second = await setting.fail('unreachable');
    expect(setting.calls).toBe(1);
    expect(second).toMatchObject({
      message: (first as Error).message,
      kind: 'unreachable',
      retryAfterMs: 1_000,
    });
  });

  test('the first call after the window is the probe, and a successful probe closes the breaker', async () => {
    const setting = setUp();
    await setting.fail('timeout');
    await setting.clock.advance(1_000);
    expect(await setting.succeed()).toBe('probe');
    expect(await setting.succeed()).toBe('normal');
  });

  test('breaker windows grow from 1 s to 30 s', async () => {
    const setting = setUp();
    const windows: unknown[] = [];
    for (let i = 0; i < 7; i++) {
      await setting.fail('unreachable');
      const refused = (await setting.fail('unreachable')) as RequestError;
      windows.push(refused.retryAfterMs);
      await setting.clock.advance(refused.retryAfterMs ?? 0);
    }
    expect(windows).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(setting.calls).toBe(7);
  });

  test('the failed call reports the time until the next probe, and its own error', async () => {
    const { fail } = setUp();
    const error = (await fail('timeout')) as RequestError;
    expect(error).toMatchObject({ retryAfterMs: 1_000, message: failure('timeout').message });
    expect(error.cause).toEqual(failure('timeout'));
  });

  test.each([0, 1])(
    'the longest breaker window has no jitter with random value %s',
    async (chance) => {
      const { clock, fail } = setUp({ longestWindowMs: 60_000, random: () => chance });
      let refused: RequestError | undefined;
      for (let i = 0; i < 8; i++) {
        await clock.advance(refused?.retryAfterMs ?? 0);
        refused = (await fail('unreachable')) as RequestError;
      }
      expect(refused?.retryAfterMs).toBe(60_000);
    },
  );

  test('probes that time out start exactly one longest window apart', async () => {
    const { breaker, clock } = setUp({ longestWindowMs: 60_000 });
    const began: number[] = [];
    const hang = async (): Promise<RequestError> =>
      breaker
        .run(signal, async () => {
          began.push(clock.monotonicMs());
          await clock.sleep(25_000);
          throw failure('timeout');
        })
        .catch((error: unknown) => error as RequestError);
    let refused: RequestError | undefined;
    for (let i = 0; i < 9; i++) {
      await clock.advance(refused?.retryAfterMs ?? 0);
      const hanging = hang();
      await clock.advance(25_000);
      refused = await hanging;
    }
    const [before = 0, last = 0] = began.slice(-2);
    expect(last - before).toBe(60_000);
  });

  test('onRecovered is called once after an outage, and never without an outage', async () => {
    let recoveries = 0;
    const { clock, fail, succeed } = setUp({ onRecovered: () => void recoveries++ });
    await succeed();
    expect(recoveries).toBe(0);
    await fail('unreachable');
    await clock.advance(1_000);
    await succeed();
    await succeed();
    expect(recoveries).toBe(1);
  });

  test("callers during the probe wait for the probe's outcome", async () => {
    const { breaker, clock, fail } = setUp();
    await fail('unreachable');
    await clock.advance(1_000);
    const gate = Promise.withResolvers<string>();
    const probe = breaker.run(signal, async () => gate.promise);
    const order: string[] = [];
    const waiting = breaker.run(signal, async (probing) => {
      order.push(probing ? 'probe' : 'normal');
      return 'later';
    });
    order.push('before');
    gate.resolve('well');
    expect(await Promise.all([probe, waiting])).toEqual(['well', 'later']);
    expect(order).toEqual(['before', 'normal']);
  });

  test('an aborted probe makes the next call the probe', async () => {
    const { breaker, clock, fail, succeed } = setUp();
    await fail('unreachable');
    await clock.advance(1_000);
    const given = breaker.run(signal, async () => {
      throw new Error('aborted by the caller');
    });
    await expect(given).rejects.toThrow('aborted by the caller');
    expect(await succeed()).toBe('probe');
  });

  test('calls failing together count as one failed attempt', async () => {
    const { breaker, fail } = setUp();
    const gate = Promise.withResolvers<never>();
    const together = [1, 2, 3].map(async () => breaker.run(signal, async () => gate.promise));
    gate.reject(failure('unreachable'));
    await Promise.allSettled(together);
    expect(await fail('unreachable')).toMatchObject({ retryAfterMs: 1_000 });
  });

  test('three consecutive server errors open the breaker; any other answer resets the count', async () => {
    const setting = setUp();
    await setting.fail('serverError');
    await setting.fail('serverError');
    await setting.fail('notFound');
    await setting.fail('serverError');
    await setting.fail('serverError');
    expect(setting.calls).toBe(5);
    await setting.fail('serverError');
    await setting.fail('serverError');
    expect(setting.calls).toBe(6);
  });

  test('breaker windows follow Retry-After, at most five minutes', async () => {
    const setting = setUp();
    await setting.fail('rateLimited', 20_000);
    expect(await setting.fail('rateLimited')).toMatchObject({ retryAfterMs: 20_000 });
    const capped = setUp();
    await capped.fail('rateLimited', 86_400_000);
    expect(await capped.fail('rateLimited')).toMatchObject({ retryAfterMs: 300_000 });
  });

  test.each(['notFound', 'forbidden', 'badAnswer', 'conflict'] as const)(
    'failure kind %s does not open the breaker',
    async (kind) => {
      const setting = setUp();
      for (let i = 0; i < 5; i++) await setting.fail(kind);
      expect(setting.calls).toBe(5);
    },
  );
});
