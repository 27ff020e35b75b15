import { expect, test } from 'vitest';
import { DeadlineReached, withDeadline } from './deadline.ts';
import { createFakeClock } from './fake-clock.ts';

/** Work that finishes only on abort. */
function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('some error of the work')));
  });
}

test('withDeadline returns the result when work finishes in time, and leaves no timer', async () => {
  const clock = createFakeClock();
  expect(await withDeadline({ clock, ms: 10 }, () => Promise.resolve(1))).toBe(1);
  expect(clock.waits).toEqual([]);
});

test("withDeadline passes on the work's error", async () => {
  const clock = createFakeClock();
  const work = withDeadline({ clock, ms: 10 }, () => Promise.reject(new Error('broken')));
  await expect(work).rejects.toThrow('broken');
});

test('withDeadline aborts slow work with DeadlineReached', async () => {
  const clock = createFakeClock();
  const ended = expect(withDeadline({ clock, ms: 10 }, forever)).rejects.toThrow(DeadlineReached);
  await clock.advance(10);
  await ended;
});

test('withDeadline aborts work with the caller’s reason when the caller gives up', async () => {
  const stop = new AbortController();
  const reason = new Error('stop');
  const clock = createFakeClock();
  const ended = expect(withDeadline({ clock, ms: 10, signal: stop.signal }, forever)).rejects.toBe(
    reason,
  );
  stop.abort(reason);
  await ended;
  expect(clock.waits).toEqual([]);
});

test('withDeadline does not start work when the caller gave up before', async () => {
  const signal = AbortSignal.abort(new Error('stop'));
  const clock = createFakeClock();
  let begun = false;
  const work = withDeadline({ clock, ms: 10, signal }, () => Promise.resolve((begun = true)));
  await expect(work).rejects.toThrow('stop');
  expect(begun).toBe(false);
});
