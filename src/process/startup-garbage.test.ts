import { afterEach, expect, it, vi } from 'vitest';
import { dropStartupGarbage } from './startup-garbage.ts';

const { calls } = vi.hoisted(() => ({ calls: [] as string[] }));

vi.mock(import('node:v8'), async (original) => ({
  ...(await original()),
  setFlagsFromString: (flag) => void calls.push(flag),
}));

afterEach(() => {
  calls.length = 0;
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it.each([
  ['collects once after 30 s', 20, 1],
  ['skips a large heap', 200, 0],
])('dropStartupGarbage %s', (_what, megabytes, times) => {
  vi.useFakeTimers();
  const gc = vi.fn();
  vi.stubGlobal('gc', gc);
  const memory = process.memoryUsage();
  vi.spyOn(process, 'memoryUsage').mockReturnValue({ ...memory, heapUsed: megabytes * 1e6 });
  dropStartupGarbage();
  expect(gc).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(gc).toHaveBeenCalledTimes(times);
});

it('dropStartupGarbage flushes code and compacts the heap once, then resets the V8 flags', () => {
  vi.useFakeTimers();
  const memory = process.memoryUsage();
  vi.spyOn(process, 'memoryUsage').mockReturnValue({ ...memory, heapUsed: 20e6 });
  vi.stubGlobal('gc', () => calls.push('gc'));
  dropStartupGarbage();
  vi.advanceTimersByTime(60_000);
  const thorough = ['stress-flush-code', 'compact-on-every-full-gc'];
  expect(calls).toEqual([
    ...thorough.map((flag) => `--${flag}`),
    'gc',
    ...thorough.map((flag) => `--no-${flag}`),
  ]);
});

it('dropStartupGarbage leaves V8 flags unchanged without global gc', () => {
  vi.useFakeTimers();
  vi.stubGlobal('gc', undefined);
  dropStartupGarbage();
  vi.advanceTimersByTime(60_000);
  expect(calls).toEqual([]);
});
