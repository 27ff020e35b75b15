import { expect, it } from 'vitest';
import { inSlices, nextTurn } from './slices.ts';

/** A clock one millisecond later at each reading. */
function tickingClock() {
  let now = 0;
  return { monotonicMs: () => now++ };
}

function* steps(count: number, done: string[]): Generator<undefined, string> {
  for (let n = 0; n < count; n++) {
    done.push('step');
    yield;
  }
  return 'end';
}

const { signal } = new AbortController();

it("inSlices yields to the event loop between slices, and returns the last step's result", async () => {
  const done: string[] = [];
  const work = inSlices(steps(35, done), tickingClock(), signal);
  setImmediate(() => done.push('other'));
  expect(await work).toBe('end');
  expect(done.filter((one) => one === 'step')).toHaveLength(35);
  expect(done.indexOf('other')).toBeGreaterThan(0);
  expect(done.indexOf('other')).toBeLessThan(25);
});

it('inSlices finishes short work without a pause', async () => {
  const done: string[] = [];
  const work = inSlices(steps(5, done), tickingClock(), signal);
  expect(done).toHaveLength(5);
  expect(await work).toBe('end');
});

it('inSlices stops between slices when its signal aborts', async () => {
  const done: string[] = [];
  const stop = new AbortController();
  const work = inSlices(steps(1_000, done), tickingClock(), stop.signal);
  stop.abort(new Error('stopped'));
  await expect(work).rejects.toThrow('stopped');
  expect(done.length).toBeLessThan(50);
});

it('nextTurn resumes one waiter per event loop: timers and sockets never wait for all waiters', async () => {
  let loop = 0;
  const count = (): void => {
    loop += 1;
    counter = setImmediate(count);
  };
  let counter = setImmediate(count);
  const loops = await Promise.all(
    Array.from({ length: 5 }, async () => {
      await nextTurn();
      return loop;
    }),
  );
  clearImmediate(counter);
  expect(new Set(loops).size).toBe(5);
});
