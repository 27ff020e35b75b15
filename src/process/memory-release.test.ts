import { afterEach, expect, it, vi } from 'vitest';
import { releaseMemoryRegularly } from './memory-release.ts';

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

/** Starts the release in a process with these MB; returns what changes them. */
function startWith(usedMb: number, totalMb: number) {
  vi.useFakeTimers();
  const memory = process.memoryUsage();
  const heap = { usedMb, totalMb };
  vi.spyOn(process, 'memoryUsage').mockImplementation(() => ({
    ...memory,
    heapUsed: heap.usedMb * 1e6,
    heapTotal: heap.totalMb * 1e6,
  }));
  const gc = vi.fn(() => void calls.push('gc'));
  vi.stubGlobal('gc', gc);
  releaseMemoryRegularly();
  return { heap, gc };
}

it.each([
  ['collects once after 30 s while the heap does not grow', 20, 30, 30, 1],
  ['does not collect again for a little more', 20, 30, 37, 1],
  ['collects again when the heap has grown by a quarter', 20, 30, 38, 2],
  ['skips a large heap', 200, 220, 300, 0],
])('releaseMemoryRegularly %s', (_what, usedMb, totalMb, laterMb, times) => {
  const { heap, gc } = startWith(usedMb, totalMb);
  expect(gc).not.toHaveBeenCalled();
  vi.advanceTimersByTime(30_000);
  heap.totalMb = laterMb;
  vi.advanceTimersByTime(60_000);
  expect(gc).toHaveBeenCalledTimes(times);
});

it('releaseMemoryRegularly doubles its pauses, up to 4 min, while each poll needs the same memory again', () => {
  const { heap, gc } = startWith(20, 30);
  const poll = () => {
    heap.totalMb = Math.max(heap.totalMb, 45);
    vi.advanceTimersByTime(15_000);
  };
  gc.mockImplementation(() => {
    heap.totalMb = 30;
  });
  vi.advanceTimersByTime(30_000);
  const collections = () => {
    gc.mockClear();
    for (let minute = 0; minute < 4; minute++) for (let n = 0; n < 4; n++) poll();
    return gc.mock.calls.length;
  };
  expect([collections(), collections(), collections()]).toEqual([5, 1, 1]);
  heap.totalMb = 80;
  vi.advanceTimersByTime(15_000);
  expect(heap.totalMb, 'a burst is returned at once').toBe(30);
});

it('releaseMemoryRegularly flushes code and compacts the heap the first time only, then resets the V8 flags', () => {
  const { heap } = startWith(20, 30);
  vi.advanceTimersByTime(30_000);
  heap.totalMb = 60;
  vi.advanceTimersByTime(15_000);
  const thorough = ['stress-flush-code', 'compact-on-every-full-gc'];
  expect(calls).toEqual([
    ...thorough.map((flag) => `--${flag}`),
    'gc',
    ...thorough.map((flag) => `--no-${flag}`),
    'gc',
  ]);
});

it('releaseMemoryRegularly leaves V8 flags unchanged without global gc', () => {
  vi.useFakeTimers();
  vi.stubGlobal('gc', undefined);
  releaseMemoryRegularly();
  vi.advanceTimersByTime(60_000);
  expect(calls).toEqual([]);
});
