import { describe, expect, it } from 'vitest';
import {
  type Continued,
  continuedNow,
  isExcused,
  progressOf,
  type Tally,
  waitingMessage,
} from './rollout.ts';

const hour = 3_600_000;
const noon = Date.parse('2026-01-01T12:00:00Z');

function names(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `node-${n + 1}`);
}

/** Builds a tally with `total` nodes: running, done and failed. */
function tally(total: number, running: number, done: number, failed: number): Tally {
  const failures = names(failed).map((node, n) => ({ node, at: noon + n }));
  return { total, running: names(running), done, failures };
}

describe('progressOf', () => {
  it.each([
    // total, running, done, failed, step, room
    ['nothing has started', 1000, 0, 0, 0, 'canary', 1],
    ['the canary runs', 1000, 1, 0, 0, 'canary', 0],
    ['the canary has failed', 1000, 0, 0, 1, 'stopped', 0],
    ['the canary has failed and another node runs', 1000, 1, 0, 1, 'stopped', 0],
    ['the canary is done', 1000, 0, 1, 0, 'wave', 100],
    ['30 nodes in the wave run', 1000, 30, 1, 0, 'wave', 70],
    ['the wave has 1 failure among 2 ended', 1000, 0, 1, 1, 'wave', 99],
    ['the wave has 2 failures among 10 ended', 1000, 0, 8, 2, 'stopped', 0],
    ['the wave has 2 failures among 20 ended', 1000, 0, 18, 2, 'wave', 81],
    ['one run of the wave is under way', 1000, 1, 100, 0, 'wave', 0],
    ['the wave is done', 1000, 0, 101, 0, 'rest', Infinity],
    ['the wave is done with 10 failures', 1000, 0, 91, 10, 'rest', Infinity],
    ['the wave is done with 11 failures', 1000, 0, 90, 11, 'stopped', 0],
    ['the rest runs', 1000, 20, 400, 20, 'rest', Infinity],
    ['a single node starts', 1, 0, 0, 0, 'canary', 1],
    ['the canary is done with 2 nodes', 2, 0, 1, 0, 'wave', 1],
    ['the wave for 11 nodes is rounded up', 11, 0, 1, 0, 'wave', 2],
    ['no object wants the revision any more', 0, 0, 0, 0, 'canary', 1],
  ] as const)(
    'progressOf when %s (total %d, running %d, done %d, failed %d): step %s, room %d',
    (_when, total, running, done, failed, step, room) => {
      expect(progressOf(tally(total, running, done, failed))).toMatchObject({ step, room });
    },
  );

  it('waitingMessage names at most five failed nodes, and the next step', () => {
    const failures = ['c', 'a', 'b', 'f', 'e', 'd', 'g'].map((node, n) => ({ node, at: noon + n }));
    const of: Tally = { total: 20, running: [], done: 1, failures };
    const progress = progressOf(of);
    expect(progress.failed).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(waitingMessage(progress, of)).toMatch(
      /to 20 nodes is stopped: a, b, c, d, e and 2 more failed; .*multinic\.io\/rollout-continue/,
    );
  });

  it('waitingMessage names the canary, and stays the same within a step', () => {
    const canary = tally(1000, 1, 0, 0);
    expect(waitingMessage(progressOf(canary), canary)).toContain('node node-1 is changed first');
    const [early, late] = [tally(1000, 20, 1, 0), tally(1000, 1, 100, 0)];
    const message = waitingMessage(progressOf(early), early);
    expect(message).toContain('rollout to 1000 nodes: 101 are changed first');
    expect(waitingMessage(progressOf(late), late)).toBe(message);
  });
});

function handled(at: number, until?: number): Continued {
  return { value: 'v', at, until };
}

describe('isExcused', () => {
  it.each([
    // failure, handled values, now, excused
    ['nothing was continued', 0, [], 1, false],
    ['the failure is older than the value', 0, [handled(1)], 2, true],
    ['failure and value have the same time', 1, [handled(1)], 2, true],
    ['the failure is later than the value', 2, [handled(1)], 3, false],
    ['a second value is later than the failure', 2, [handled(1), handled(3)], 4, true],
    ['a clock 3 h ahead handled the value before the failure', 1, [handled(3)], 2, false],
    ['a clock 3 h ahead recorded the failure and handled the value', 2.9, [handled(3)], 1, true],
    [
      'a clock 3 h behind handled the value after a correct clock recorded the failure',
      3,
      [handled(0.1, 3)],
      0.2,
      true,
    ],
    ['the same, after the clock is correct again', 3, [handled(0.1, 3)], 3.5, true],
    [
      'the failure came after a clock 3 h behind handled the value',
      0.2,
      [handled(0.1, 3)],
      0.3,
      false,
    ],
    [
      'the failure is older than another failure recorded by a clock ahead',
      1,
      [handled(2, 3)],
      2.1,
      true,
    ],
  ] as const)('isExcused when %s', (_when, at, list, now, expected) => {
    const continued = list.map(({ value, at: by, until }) => ({
      value,
      at: noon + by * hour,
      ...(until === undefined ? {} : { until: noon + until * hour }),
    }));
    expect(isExcused(noon + at * hour, continued, noon + now * hour)).toBe(expected);
  });

  it.each([
    ['a correct clock', noon, [noon - hour], undefined],
    ['a clock behind a failure', noon, [noon + hour, noon - hour], noon + hour],
  ])(
    'continuedNow by %s stores `until` only if a failure is later',
    (_clock, now, failures, until) => {
      const continued = continuedNow('v', now, failures);
      expect(continued).toEqual({ value: 'v', at: now, ...(until ? { until } : {}) });
      for (const at of failures) expect(isExcused(at, [continued], now)).toBe(true);
    },
  );
});
