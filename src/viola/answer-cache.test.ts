import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { AnswerCache } from './answer-cache.ts';

const keepMs = 5_000;

/** A cache and a read that answers how often it was asked. */
function counting() {
  const clock = createFakeClock();
  const cache = new AnswerCache(clock, keepMs);
  let reads = 0;
  const read = async () => ++reads;
  const get = async (key: string, fresh = false) => (await cache.get(key, read, fresh)).value;
  return { clock, cache, get };
}

describe('AnswerCache', () => {
  it('keeps an answer until it is too old, with the time at which it was read', async () => {
    const { clock, cache, get } = counting();
    const readAt = clock.now();
    expect(await get('biz-1')).toBe(1);
    await clock.advance(keepMs - 1);
    expect(await cache.get('biz-1', async () => 0, false)).toEqual({
      value: 1,
      observedAt: readAt,
    });
    await clock.advance(1);
    expect(await get('biz-1')).toBe(2);
  });

  it('is as old as the moment at which its reading began', async () => {
    const { clock, cache } = counting();
    const begun = clock.now();
    const slow = async () => {
      await clock.advance(keepMs);
      return 1;
    };
    expect(await cache.get('biz-1', slow, false)).toEqual({ value: 1, observedAt: begun });
  });

  it('reads through when asked to, and keeps that for the others', async () => {
    const { get } = counting();
    expect(await get('biz-1')).toBe(1);
    expect(await get('biz-1', true)).toBe(2);
    expect(await get('biz-1')).toBe(2);
  });

  it('forgets what begins so, and nothing else', async () => {
    const { cache, get } = counting();
    expect([await get('biz-1'), await get('biz-2')]).toEqual([1, 2]);
    cache.forget('biz-1');
    expect([await get('biz-2'), await get('biz-1')]).toEqual([2, 3]);
  });

  it('does not lose a newer answer when an older read fails', async () => {
    const { cache, get } = counting();
    const slow = Promise.withResolvers<number>();
    const failing = cache.get('biz-1', () => slow.promise, false);
    cache.forget('biz-1');
    expect(await get('biz-1')).toBe(1);
    slow.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    expect(await get('biz-1')).toBe(1);
  });
});
