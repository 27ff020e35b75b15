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
  test('remembers for its time and not longer', async () => {
    const { cache, clock, load } = setUp();
    expect(await cache.get('a', signal, load)).toBe('load 1');
    await clock.advance(999);
    expect(await cache.get('a', signal, load)).toBe('load 1');
    await clock.advance(1);
    expect(await cache.get('a', signal, load)).toBe('load 2');
  });

  test('waits for its turn to read again, up to three times its time', async () => {
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

  test('concurrent askers share a load', async () => {
    const { cache, load } = setUp();
    const both = await Promise.all([cache.get('a', signal, load), cache.get('a', signal, load)]);
    expect(both).toEqual(['load 1', 'load 1']);
  });

  test('does not keep what may not be kept', async () => {
    const { cache, load } = setUp();
    expect(await cache.get('a', signal, async () => 'gone')).toBe('gone');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('pushes the oldest out beyond its capacity', async () => {
    const { cache, load } = setUp(2);
    for (const key of ['a', 'b', 'c']) await cache.get(key, signal, async () => key);
    expect(await cache.get('c', signal, load)).toBe('c');
    expect(await cache.get('b', signal, load)).toBe('b');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('forgets the entries that match', async () => {
    const { cache, load } = setUp();
    await cache.get('a', signal, async () => 'old');
    await cache.get('b', signal, async () => 'new');
    cache.forget((value) => value === 'old');
    expect(await cache.get('b', signal, load)).toBe('new');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });

  test('forgets what was asked for before a time, though it came after', async () => {
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

  test('what is being asked for when it is forgotten is neither remembered nor given to later askers', async () => {
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

  test('what was asked for since is shared by later askers, however late it is forgotten', async () => {
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

  test('a load that fails is not remembered', async () => {
    const { cache, load } = setUp();
    const failing = cache.get('a', signal, async () => {
      throw new Error('down');
    });
    await expect(failing).rejects.toThrow('down');
    expect(await cache.get('a', signal, load)).toBe('load 1');
  });
});
