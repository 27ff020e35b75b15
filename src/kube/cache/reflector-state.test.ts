import { describe, expect, test } from 'vitest';
import { KubeError } from '../errors.ts';
import { firstState, type RunningState, type StepResult, transition } from './reflector-state.ts';

const random = () => 0.5;
const at = (resourceVersion: string, failures = 0): RunningState => ({
  name: 'watching',
  resourceVersion,
  failures,
});
const gone = new KubeError({ status: 410, reason: 'Expired', message: 'too old' });
const lost = new KubeError({ status: 0, reason: 'Unreachable', message: 'lost' });
const failed = (error: unknown, resourceVersion?: string, healthy = false): StepResult =>
  resourceVersion === undefined
    ? { kind: 'failed', error, healthy }
    : { kind: 'failed', error, resourceVersion, healthy };

describe('transitions of a reflector', () => {
  test.each<[string, RunningState, StepResult, object]>([
    [
      'a list leads to a watch from its version',
      firstState,
      { kind: 'listed', resourceVersion: '7' },
      at('7'),
    ],
    [
      'a list does not forget earlier failures',
      { ...firstState, failures: 3 },
      { kind: 'listed', resourceVersion: '7' },
      at('7', 3),
    ],
    [
      'a failed list is tried again after a pause',
      firstState,
      failed(lost),
      { name: 'waiting', waitMs: 800, failures: 1, next: { name: 'listing' } },
    ],
    [
      'a watch that ended well is resumed at once',
      at('7', 2),
      { kind: 'ended', resourceVersion: '9', healthy: true },
      at('9', 0),
    ],
    [
      'a watch that ended at once is resumed after a pause',
      at('7'),
      { kind: 'ended', resourceVersion: '7', healthy: false },
      { name: 'waiting', waitMs: 800, next: { name: 'watching', resourceVersion: '7' } },
    ],
    [
      'a broken watch is resumed from where it stood',
      at('7'),
      failed(lost, '9', true),
      {
        name: 'waiting',
        waitMs: 800,
        failures: 1,
        next: { name: 'watching', resourceVersion: '9' },
      },
    ],
    [
      'a version that is too old leads to a list',
      at('7'),
      failed(gone, '9', true),
      { name: 'waiting', next: { name: 'listing' } },
    ],
    [
      'a list is due now and then',
      at('7', 2),
      { kind: 'relistDue' },
      { name: 'listing', failures: 0, resumeFrom: '7' },
    ],
    [
      'what can be watched is watched when that list fails',
      { name: 'listing', failures: 0, resumeFrom: '7' },
      failed(lost),
      { name: 'waiting', waitMs: 800, next: { name: 'watching', resourceVersion: '7' } },
    ],
    [
      'even when its pages have expired: that says nothing about the watch',
      { name: 'listing', failures: 0, resumeFrom: '7' },
      failed(gone),
      { name: 'waiting', waitMs: 800, next: { name: 'watching', resourceVersion: '7' } },
    ],
  ])('%s', (_, state, result, next) => {
    expect(transition(state, result, random)).toMatchObject(next);
  });

  test('a pause leads to what was to come after it', () => {
    const next = { name: 'watching', resourceVersion: '7' } as const;
    const state: RunningState = { name: 'waiting', failures: 3, waitMs: 800, next };
    expect(transition(state, { kind: 'waited' }, random)).toEqual(at('7', 3));
  });

  test.each<[RunningState]>([
    [firstState],
    [at('7')],
    [{ name: 'waiting', failures: 1, waitMs: 1, next: { name: 'listing' } }],
  ])('an abort leads from %o to the end', (state) => {
    expect(transition(state, { kind: 'aborted' }, random)).toEqual({ name: 'stopped' });
  });

  test('pauses double up to 30 s and start again after a healthy watch', () => {
    let state: RunningState = at('7');
    const waits: number[] = [];
    for (let failure = 0; failure < 8; failure++) {
      const next = transition(state, failed(lost, '7'), random);
      if (next.name !== 'waiting') throw new Error(next.name);
      waits.push(next.waitMs);
      state = { ...next.next, failures: next.failures };
    }
    expect(waits).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    expect(transition(state, failed(lost, '7', true), random)).toMatchObject({ waitMs: 800 });
  });

  test('a server that asks for a longer pause gets it', () => {
    const busy = new KubeError({
      status: 429,
      reason: 'Busy',
      message: 'busy',
      retryAfterMs: 9_000,
    });
    expect(transition(at('7'), failed(busy, '7'), random)).toMatchObject({ waitMs: 9_000 });
  });

  test('a version from which nothing comes is doubted after five tries', () => {
    let state: RunningState = at('7');
    const names: string[] = [];
    for (let failure = 0; failure < 6; failure++) {
      const next = transition(state, failed(lost, '7'), random);
      if (next.name !== 'waiting') throw new Error(next.name);
      names.push(next.next.name);
      state = { ...next.next, failures: next.failures };
    }
    expect(names).toEqual(['watching', 'watching', 'watching', 'watching', 'listing', 'watching']);
  });
});
