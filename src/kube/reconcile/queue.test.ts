import { describe, expect, test } from 'vitest';
import { createFakeClock, settled } from '../../time/fake-clock.ts';
import { WorkQueue, type WorkQueueOptions } from './queue.ts';

const never = new AbortController().signal;

function queueWithClock(options: Partial<WorkQueueOptions> = {}) {
  const clock = createFakeClock();
  return { clock, queue: new WorkQueue({ clock, random: () => 0.5, ...options }) };
}

describe('work queue', () => {
  test('the queue returns keys in ready order, each once', async () => {
    const { queue } = queueWithClock();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.depth).toBe(3);
    expect([await queue.take(never), await queue.take(never), await queue.take(never)]).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  test('a worker waiting on the queue gets the next key', async () => {
    const { queue } = queueWithClock();
    const taken = queue.take(never);
    queue.add('a');
    expect(await taken).toBe('a');
  });

  test('a taken key is returned again only after done', async () => {
    const { queue } = queueWithClock();
    queue.add('a');
    await queue.take(never);
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(queue.depth).toBe(1);
    await queue.take(never);
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  test('a delayed key becomes ready at its earliest due time', async () => {
    const { clock, queue } = queueWithClock();
    queue.addAfter('a', 500);
    queue.addAfter('a', 100);
    queue.addAfter('a', 900);
    await clock.advance(99);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
    await queue.take(never);
    queue.done('a');
    await clock.advance(1_000);
    expect([queue.depth, clock.waits]).toEqual([0, []]);
  });

  test('all delayed keys share one timer', async () => {
    const { clock, queue } = queueWithClock();
    for (const [key, ms] of [
      ['a', 300],
      ['b', 100],
      ['c', 200],
    ] as const)
      queue.addAfter(key, ms);
    await settled();
    expect(clock.waits).toEqual([100]);
    await clock.advance(100);
    expect(clock.waits).toEqual([100]);
  });

  test('queue retries wait 1 s, doubling up to 5 min', async () => {
    const { clock, queue } = queueWithClock();
    const waits: (number | undefined)[] = [];
    for (let failure = 0; failure < 11; failure++) {
      queue.retry('a');
      await settled();
      waits.push(clock.waits[0]);
      await clock.advance(300_000);
      await queue.take(never);
      queue.done('a');
    }
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300];
    expect(waits).toEqual(seconds.map((second) => second * 1_000));
  });

  test("forget resets one key's backoff and leaves other keys unchanged", async () => {
    const { clock, queue } = queueWithClock();
    queue.retry('a');
    queue.retry('b');
    await clock.advance(1_000);
    queue.forget('a');
    queue.retry('a');
    queue.retry('b');
    await clock.advance(1_000);
    expect(queue.depth).toBe(2);
    for (const key of ['a', 'b']) expect(await queue.take(never)).toBe(key);
    expect(clock.waits).toEqual([1_000]);
  });

  test("a retry waits at least as long as the API server's Retry-After", async () => {
    const { clock, queue } = queueWithClock();
    queue.retry('a', 7_000);
    await settled();
    expect(clock.waits).toEqual([7_000]);
  });

  test('adding a key skips its backoff', async () => {
    const { queue } = queueWithClock();
    queue.retry('a');
    queue.add('a');
    expect(await queue.take(never)).toBe('a');
  });

  test('an aborted queue take returns undefined and takes no key', async () => {
    const { queue } = queueWithClock();
    const stop = new AbortController();
    const taken = queue.take(stop.signal);
    stop.abort();
    expect(await taken).toBeUndefined();
    queue.add('a');
    expect(await queue.take(stop.signal)).toBeUndefined();
    expect(await queue.take(never)).toBe('a');
  });

  test('shutDown ends all waiting takes and leaves no timer', async () => {
    const { clock, queue } = queueWithClock();
    queue.addAfter('a', 100);
    const taken = queue.take(never);
    queue.shutDown();
    expect(await taken).toBeUndefined();
    queue.add('b');
    queue.retry('c');
    await settled();
    expect([queue.depth, clock.waits, await queue.take(never)]).toEqual([0, [], undefined]);
  });

  test('a full queue refuses new keys and names the refused key', () => {
    const { queue } = queueWithClock({ maxKeys: 2 });
    queue.add('a');
    queue.addAfter('b', 100);
    queue.add('a');
    queue.addAfter('b', 50);
    expect(() => queue.add('c')).toThrow('full (2 keys): c is dropped');
    expect(() => queue.addAfter('c', 1)).toThrow('full (2 keys): c is dropped');
  });

  test('a new key in a full lane is checked once, independent of waiting keys', async () => {
    let checks = 0;
    const of = (): readonly string[] => {
      checks++;
      return ['one'];
    };
    const { queue } = queueWithClock({ lanes: { most: 1, of } });
    const { signal } = new AbortController();
    const taken = [queue.take(signal), queue.take(signal)];
    for (let n = 0; n < 1_000; n++) queue.add(`key-${n}`);
    expect([await taken[0], checks]).toEqual(['key-0', 1_000]);
    queue.done('key-0');
    expect(await taken[1]).toBe('key-1');
  });
});
