import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { RefreshTurns } from './refresh-turns.ts';
import { TtlCache } from './ttl-cache.ts';

const signal = new AbortController().signal;

function setUp(capacity = 10) {
  const clock = createFakeClock();
  const turns = new RefreshTurns(clock);
  const cache = new TtlCache<string>({
    clock,
    turnsOf: () => turns,
    ttlMs: 1_000,
    capacity,
    keeps: (value) => value !== 'gone',
  });
  let loads = 0;
  const load = async (): Promise<string> => {
    loads += 1;
    return `load ${loads}`;
  };
  return { clock, cache, turns, load };
}

describe('TtlCache', () => {
  test('a value is cached for exactly its TTL', async () => {
    const { cache, clock, load } = setUp();
    expect(await cache.get('a', signal, load)).toBe('load 1');
    await clock.advance(999);
    expect(await cache.get('a', signal, load)).toBe('load 1');
    await clock.advance(1);
    expect(await cache.get('a', signal, load)).toBe('load 2');
  });

  test('an expired value stays in use until its refresh turn, up to three times the TTL', async () => {
    const { cache, clock, turns, load } = setUp();
    await cache.get('a', signal, load);
    await clock.advance(1_000);
    turns.spend();
    expect(await cache.get('a', signal, load)).toBe('load 1');
    await clock.advance(1_999);
    expect(await cache.get('a', signal, load)).toBe('load 1');
    await clock.advance(1);
    expect(await cache.get('a', signal, load)).toBe('load 2');
  });

  test('concurrent callers share a load', async () => {
    const { cache, load } = setUp();
    const results = await Promise.all([cache.get('a', signal, load), cache.get('a', signal, load)]);
    expect(results).toEqual(['load 1', 'load 1']);
  });

  test('a value rejected by `keeps` is not cached', async () => {
    const { cache, load } = setUp();
    expect(await cache.get('a', signal, async () => 'gone')).toBe('gone');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('the oldest entry is evicted beyond the capacity', async () => {
    const { cache, load } = setUp(2);
    for (const key of ['a', 'b', 'c']) await cache.get(key, signal, async () => key);
    expect(await cache.get('c', signal, load)).toBe('c');
    expect(await cache.get('b', signal, load)).toBe('b');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('forget drops matching entries', async () => {
    const { cache, load } = setUp();
    await cache.get('a', signal, async () => 'old');
    await cache.get('b', signal, async () => 'new');
    cache.forget((value) => value === 'old');
    expect(await cache.get('b', signal, load)).toBe('new');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('forgetBefore drops values requested before the time, even when answered later', async () => {
    const { cache, clock, load } = setUp();
    const answer = Promise.withResolvers<string>();
    const slow = cache.get('a', signal, async () => answer.promise);
    await clock.advance(10);
    await cache.get('b', signal, async () => 'new');
    answer.resolve('old');
    await slow;
    cache.forgetBefore(clock.monotonicMs());
    expect(await cache.get('b', signal, load)).toBe('new');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('a load running during forgetBefore is neither cached nor shared with later callers', async () => {
    const { cache, clock, load } = setUp();
    const answer = Promise.withResolvers<string>();
    const slow = cache.get('a', signal, () => answer.promise);
    await clock.advance(1);
    cache.forgetBefore(clock.monotonicMs());
    expect(await cache.get('a', signal, load)).toBe('load 1');
    answer.resolve('old');
    expect(await slow).toBe('old');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('a load started after the forgetBefore time is shared with later callers', async () => {
    const { cache, clock, load } = setUp();
    const since = clock.monotonicMs();
    const answer = Promise.withResolvers<string>();
    const slow = cache.get('a', signal, () => answer.promise);
    await clock.advance(1);
    cache.forgetBefore(since);
    const shared = cache.get('a', signal, load);
    answer.resolve('new');
    expect(await Promise.all([slow, shared])).toEqual(['new', 'new']);
  });

  test('a failed load is not cached', async () => {
    const { cache, load } = setUp();
    const failing = cache.get('a', signal, async () => {
      throw new Error('down');
    });
    await expect(failing).rejects.toThrow('down');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });
});
