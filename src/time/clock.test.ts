import { describe, expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';
import { maxSleepMs, systemClock } from './clock.ts';
import { createFakeClock } from './fake-clock.ts';

describe('systemClock.sleep', () => {
  it('systemClock.sleep rejects with the abort reason when the signal aborts before or during the sleep', async () => {
    const stop = new AbortController();
    const asleep = systemClock.sleep(60_000, stop.signal);
    stop.abort(new Error('enough'));
    await expect(asleep).rejects.toThrow('enough');
    await expect(systemClock.sleep(60_000, stop.signal)).rejects.toThrow('enough');
  });

  it('systemClock.sleep does not return at once when the delay exceeds the timer maximum', async () => {
    const stop = new AbortController();
    const asleep = systemClock.sleep(maxSleepMs + 1, stop.signal).catch(() => 'stopped');
    const awake = systemClock.sleep(20).then(() => 'still asleep');
    expect(await Promise.race([asleep, awake])).toBe('still asleep');
    stop.abort(new Error('enough'));
    expect(await asleep).toBe('stopped');
  });

  it('systemClock.sleep returns at once, without a Node.js warning, for a negative delay', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    await systemClock.sleep(-1_500);
    // Node.js emits warnings in the next event loop turn.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('createFakeClock', () => {
  it('createFakeClock wakes sleepers in time order, each at its due time', async () => {
    const clock = createFakeClock();
    const woken: [string, number][] = [];
    const sleeper = async (name: string, ms: number) => {
      await clock.sleep(ms);
      woken.push([name, clock.monotonicMs()]);
    };
    const all = [sleeper('late', 200), sleeper('early', 100)];
    await clock.advance(150);
    expect(woken).toEqual([['early', 100]]);
    expect(clock.waits.length).toBe(1);
    await clock.advance(100);
    await Promise.all(all);
    expect(woken).toEqual([
      ['early', 100],
      ['late', 200],
    ]);
  });
});

describe('backoffMs', () => {
  const bounds = { baseMs: 1000, maxMs: 300_000 };
  it.each([
    [0, 0, 800],
    [0, 0.5, 1000],
    [3, 0.5, 8000],
    [8, 0.5, 256_000],
    [9, 0.5, 300_000],
    [1000, 0.999_999_999, 360_000],
  ])(
    'backoffMs doubles from the base to the cap with 20 %% jitter (attempt %d)',
    (attempt, draw, ms) => {
      expect(backoffMs(attempt, bounds, () => draw)).toBeCloseTo(ms, 3);
    },
  );
});
