import { afterEach, expect, it, vi } from 'vitest';
import { dropStartupGarbage } from './startup-garbage.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it.each([
  ['collects once, when the process has settled', 20, 1],
  ['leaves a large heap alone', 200, 0],
])('%s', (_what, megabytes, times) => {
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
