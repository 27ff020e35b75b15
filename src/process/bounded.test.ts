import { describe, expect, test } from 'vitest';
import { settled } from '../time/fake-clock.ts';
import { mapBounded } from './bounded.ts';

describe('mapBounded', () => {
  test('mapBounded keeps the order and never exceeds the concurrency limit', async () => {
    let running = 0;
    let most = 0;
    const results = await mapBounded([5, 4, 3, 2, 1, 0], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let i = 0; i < item; i++) await Promise.resolve();
      running -= 1;
      return item * 10;
    });
    expect(results).toEqual([50, 40, 30, 20, 10, 0]);
    expect(most).toBe(2);
  });

  test('mapBounded aborts running calls after the first failure and throws this failure', async () => {
    const started: number[] = [];
    const work = mapBounded([0, 1, 2, 3], 2, async (item, either) => {
      started.push(item);
      if (item === 0) throw new Error('first');
      await new Promise((_, reject) => {
        either.addEventListener('abort', () => reject(new Error('ended')), { once: true });
      });
    });
    await expect(work).rejects.toThrow('first');
    expect(started).toEqual([0, 1]);
  });

  test('mapBounded starts no call when the signal is already aborted', async () => {
    const gone = AbortSignal.abort(new Error('stop'));
    await expect(mapBounded([1], 2, async () => 1, gone)).rejects.toThrow('stop');
  });

  test('mapBounded returns an empty list for no items', async () => {
    expect(await mapBounded([], 4, async () => 1)).toEqual([]);
  });

  test('mapBounded starts no call after a failure, and rejects after running calls have finished', async () => {
    const log: string[] = [];
    const slow = Promise.withResolvers<void>();
    const running = mapBounded(['bad', 'slow', 'never'], 2, async (item) => {
      log.push(item);
      if (item === 'bad') throw new Error('broken');
      await slow.promise;
      log.push(`${item} ended`);
    }).catch((error: unknown) => log.push(String(error)));
    await settled();
    expect(log).toEqual(['bad', 'slow']);
    slow.resolve();
    await running;
    expect(log).toEqual(['bad', 'slow', 'slow ended', 'Error: broken']);
  });
});
