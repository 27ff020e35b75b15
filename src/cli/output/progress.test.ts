import { afterEach, expect, it, vi } from 'vitest';
import { startProgress } from './progress.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('progress writes one line per change of its text', () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  using progress = startProgress((line) => lines.push(line));
  for (let second = 0; second < 300; second += 1) {
    progress.show(second < 200 ? 'waiting; Ready Unknown' : 'waiting; Ready False');
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toEqual(['waiting; Ready Unknown', 'waiting; Ready False']);
});
