import { describe, expect, it } from 'vitest';
import { agentTask } from '../../../test/fixtures/controller-samples.ts';
import { healthOf } from './liveness.ts';
import type { Run } from './runner.ts';

const pending: Run = {
  ...agentTask(),
  name: 'run-1',
  phase: 'pending',
  trouble: undefined,
  ended: undefined,
};

const after = (seconds: number, of: Run = pending) =>
  healthOf(of, { startDeadlineMs: 20_000, recordAgeMs: seconds * 1000 });

describe('healthOf', () => {
  it('healthOf returns young, then slow, then late at the start deadline', () => {
    expect(after(14)).toEqual({ kind: 'young', forMs: 6_000 });
    expect(after(15)).toEqual({ kind: 'slow', forMs: 5_000 });
    const message = expect.stringContaining('kubelet') as string;
    expect(after(20)).toMatchObject({ kind: 'late', failure: { reason: 'NotStarted', message } });
  });

  it("healthOf returns the kubelet's reason for a late run, if known", () => {
    const trouble = { reason: 'ImagePullFailed', message: 'no such image' } as const;
    expect(after(20, { ...pending, trouble })).toEqual({ kind: 'late', failure: trouble });
  });

  it.each([
    ['pod', /has no Pod after 20 s.*quota, admission/, 'kubelet'],
    ['kubelet', /has not started on node worker-1 within 20 s; check whether its kubelet/, 'quota'],
    ['container', /events of its Pod on node worker-1.*mounts/, 'kubelet'],
  ] as const)('healthOf names the place to look for a run waiting for its %s', (...row) => {
    const [awaits, words, unsaid] = row;
    const health = after(20, { ...pending, awaits });
    const message = expect.stringMatching(words) as string;
    expect(health).toMatchObject({ failure: { reason: 'NotStarted', message } });
    expect(JSON.stringify(health)).not.toContain(unsaid);
  });

  it.each(['prepared', 'running', 'ending', 'ended'] as const)(
    'healthOf returns fine for a run that is not pending: %s',
    (phase) => {
      expect(after(1_000, { ...pending, phase })).toEqual({ kind: 'fine' });
    },
  );
});
