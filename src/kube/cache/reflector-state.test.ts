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

describe('reflector state transition', () => {
  test.each<[string, RunningState, StepResult, object]>([
    [
      'a finished list starts a watch from its version',
      firstState,
      { kind: 'listed', resourceVersion: '7' },
      at('7'),
    ],
    [
      'a finished list keeps the failure count',
      { ...firstState, failures: 3 },
      { kind: 'listed', resourceVersion: '7' },
      at('7', 3),
    ],
    [
      'a failed list is retried after a pause',
      firstState,
      failed(lost),
      { name: 'waiting', waitMs: 800, failures: 1, next: { name: 'listing' } },
    ],
    [
      'a healthy ended watch resumes at once',
      at('7', 2),
      { kind: 'ended', resourceVersion: '9', healthy: true },
      at('9', 0),
    ],
    [
      'a watch without events resumes after a pause',
      at('7'),
      { kind: 'ended', resourceVersion: '7', healthy: false },
      { name: 'waiting', waitMs: 800, next: { name: 'watching', resourceVersion: '7' } },
    ],
    [
      'a broken watch resumes from its last version',
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
      'an expired version triggers a list',
      at('7'),
      failed(gone, '9', true),
      { name: 'waiting', next: { name: 'listing' } },
    ],
    [
      'a due relist interrupts the watch',
      at('7', 2),
      { kind: 'relistDue' },
      { name: 'listing', failures: 0, resumeFrom: '7' },
    ],
    [
      'a failed relist resumes the watch',
      { name: 'listing', failures: 0, resumeFrom: '7' },
      failed(lost),
      { name: 'waiting', waitMs: 800, next: { name: 'watching', resourceVersion: '7' } },
    ],
    [
      'a relist with expired pages resumes the watch',
      { name: 'listing', failures: 0, resumeFrom: '7' },
      failed(gone),
      { name: 'waiting', waitMs: 800, next: { name: 'watching', resourceVersion: '7' } },
    ],
  ])('transition: %s', (_, state, result, next) => {
    expect(transition(state, result, random)).toMatchObject(next);
  });

  test('transition continues with the planned state after a pause', () => {
    const next = { name: 'watching', resourceVersion: '7' } as const;
    const state: RunningState = { name: 'waiting', failures: 3, waitMs: 800, next };
    expect(transition(state, { kind: 'waited' }, random)).toEqual(at('7', 3));
  });

  test.each<[RunningState]>([
    [firstState],
    [at('7')],
    [{ name: 'waiting', failures: 1, waitMs: 1, next: { name: 'listing' } }],
  ])('transition stops from %o on abort', (state) => {
    expect(transition(state, { kind: 'aborted' }, random)).toEqual({ name: 'stopped' });
  });

  test('transition doubles pauses up to 30 s, and resets after a healthy watch', () => {
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

  test("transition waits as long as the API server's Retry-After", () => {
    const busy = new KubeError({
      status: 429,
      reason: 'Busy',
      message: 'busy',
      retryAfterMs: 9_000,
    });
    expect(transition(at('7'), failed(busy, '7'), random)).toMatchObject({ waitMs: 9_000 });
  });

  test('transition relists after five failed watches from one version', () => {
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
