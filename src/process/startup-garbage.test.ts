import { afterEach, expect, it, vi } from 'vitest';
import { dropStartupGarbage } from './startup-garbage.ts';

const { said } = vi.hoisted(() => ({ said: [] as string[] }));

vi.mock(import('node:v8'), async (original) => ({
  ...(await original()),
  setFlagsFromString: (flag) => void said.push(flag),
}));

afterEach(() => {
  said.length = 0;
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

it('drops code together with objects and moves what is left together, and then no more', () => {
  vi.useFakeTimers();
  const memory = process.memoryUsage();
  vi.spyOn(process, 'memoryUsage').mockReturnValue({ ...memory, heapUsed: 20e6 });
  vi.stubGlobal('gc', () => said.push('gc'));
  dropStartupGarbage();
  vi.advanceTimersByTime(60_000);
  const thorough = ['stress-flush-code', 'compact-on-every-full-gc'];
  expect(said).toEqual([
    ...thorough.map((flag) => `--${flag}`),
    'gc',
    ...thorough.map((flag) => `--no-${flag}`),
  ]);
});

it('leaves V8 as it is where nothing can be collected', () => {
  vi.useFakeTimers();
  vi.stubGlobal('gc', undefined);
  dropStartupGarbage();
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual([]);
});
