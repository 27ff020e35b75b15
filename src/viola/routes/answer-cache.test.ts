import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { AnswerCache } from './answer-cache.ts';

const maxAgeMs = 5_000;

/** Returns a cache with a read function that counts its calls. */
function counting() {
  const clock = createFakeClock();
  const cache = new AnswerCache(clock, maxAgeMs);
  let reads = 0;
  const read = async () => ++reads;
  const get = async (key: string, fresh = false) => (await cache.get(key, read, fresh)).value;
  return { clock, cache, get };
}

describe('AnswerCache', () => {
  it('an answer is cached until its age reaches the limit, with the read time', async () => {
    const { clock, cache, get } = counting();
    const readAt = clock.now();
    expect(await get('biz-1')).toBe(1);
    await clock.advance(maxAgeMs - 1);
    expect(await cache.get('biz-1', async () => 0, false)).toEqual({
      value: 1,
      observedAt: readAt,
    });
    await clock.advance(1);
    expect(await get('biz-1')).toBe(2);
  });

  it("an answer's age counts from the start of its read", async () => {
    const { clock, cache } = counting();
    const startedAt = clock.now();
    const slow = async () => {
      await clock.advance(maxAgeMs);
      return 1;
    };
    expect(await cache.get('biz-1', slow, false)).toEqual({ value: 1, observedAt: startedAt });
  });

  it('a fresh request bypasses the cache and stores its answer for other callers', async () => {
    const { get } = counting();
    expect(await get('biz-1')).toBe(1);
    expect(await get('biz-1', true)).toBe(2);
    expect(await get('biz-1')).toBe(2);
  });

  it('forget drops only keys with this prefix', async () => {
    const { cache, get } = counting();
    expect([await get('biz-1'), await get('biz-2')]).toEqual([1, 2]);
    cache.forget('biz-1');
    expect([await get('biz-2'), await get('biz-1')]).toEqual([2, 3]);
  });

  it('a failing older read does not drop a newer answer', async () => {
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
