import { describe, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { underLock } from './lock.ts';

const { signal } = new AbortController();
const name = `\0multinic-agent-test-${process.pid}`;

/** Holds the lock until told to let go. */
async function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const work = async () => {
    taken.resolve();
    await promise;
  };
  const done = underLock({ clock: systemClock, signal }, work, name);
  await taken.promise;
  return async () => {
    resolve();
    await done;
  };
}

describe('the lock of a host', () => {
  test('lets a second run wait until the first one has ended', async () => {
    const letGo = await held();
    const clock = createFakeClock();
    const order: string[] = [];
    const second = underLock({ clock, signal }, async () => void order.push('second'), name);
    await expect.poll(() => clock.waits.length).toBe(1);
    expect(order).toEqual([]);
    await letGo();
    await clock.advance(200);
    await second;
    expect(order).toEqual(['second']);
  });

  test('does not wait for ever', async () => {
    const letGo = await held();
    const clock = createFakeClock();
    const second = underLock({ clock, signal }, async () => 'never', name);
    const said = expect(second).rejects.toThrow('another run of the agent holds this host');
    const patience = expect.poll(async () => {
      await clock.advance(61_000);
      return clock.waits.length;
    });
    await patience.toBe(0);
    await said;
    await letGo();
  });

  test('is free again after work that failed', async () => {
    const failing = underLock(
      { clock: systemClock, signal },
      async () => {
        throw new Error('work failed');
      },
      name,
    );
    await expect(failing).rejects.toThrow('work failed');
    const next = underLock({ clock: createFakeClock(), signal }, async () => 'done', name);
    expect(await next).toBe('done');
  });
});
