import { describe, expect, test } from 'vitest';
import { settled } from '../time/fake-clock.ts';
import { mapBounded } from './bounded.ts';

describe('mapBounded', () => {
  test('keeps the order and never has more than the limit under way', async () => {
    let underWay = 0;
    let most = 0;
    const results = await mapBounded([5, 4, 3, 2, 1, 0], 2, async (item) => {
      underWay += 1;
      most = Math.max(most, underWay);
      for (let i = 0; i < item; i++) await Promise.resolve();
      underWay -= 1;
      return item * 10;
    });
    expect(results).toEqual([50, 40, 30, 20, 10, 0]);
    expect(most).toBe(2);
  });

  test('the first failure ends the others and is thrown', async () => {
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

  test('begins nothing when it is aborted', async () => {
    const gone = AbortSignal.abort(new Error('stop'));
    await expect(mapBounded([1], 2, async () => 1, gone)).rejects.toThrow('stop');
  });

  test('nothing is nothing', async () => {
    expect(await mapBounded([], 4, async () => 1)).toEqual([]);
  });

  test('begins nothing after a failure, and rejects when what was under way has ended', async () => {
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
