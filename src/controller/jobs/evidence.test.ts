import { describe, expect, it } from 'vitest';
import {
  agentIn,
  agentTask,
  job,
  jobResult,
  pod,
  podStatusWith,
} from '../../../test/fixtures/controller-samples.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { runOf } from './evidence.ts';
import type { Run } from './runner.ts';

const failedJob = (reason: string): Job['status'] => ({
  conditions: [
    { type: 'Failed', status: 'True', reason, lastTransitionTime: '2026-01-01T00:10:00Z' },
  ],
});

function run(status?: Pod['status'], jobStatus?: Job['status']): Run {
  const found = runOf(
    job(agentTask(), jobStatus ? { status: jobStatus } : {}),
    status ? [pod(status)] : [],
  );
  if (!found) throw new Error('not a run');
  return found;
}

function failure(status?: Pod['status'], jobStatus?: Job['status']) {
  const verdict = run(status, jobStatus).ended?.verdict;
  return verdict?.kind === 'failure' ? verdict : undefined;
}

const statusWith = (change: object): NonNullable<Pod['status']> =>
  podStatusWith(JSON.stringify({ ...jobResult(), ...change }));

describe('the outcome of a finished run', () => {
  it("runOf returns the agent's result for a matching uid, generation and attempt", () => {
    expect(run(statusWith({})).ended).toEqual({
      verdict: { kind: 'result', result: jobResult() },
    });
  });

  it.each([
    ['another object', { uid: 'uid-2' }],
    ['an older generation', { generation: 0 }],
    ['another attempt', { attempt: 2 }],
  ])('runOf ignores a result about %s: ResultLost', (_what, change) => {
    expect(failure(statusWith(change))?.reason).toBe('ResultLost');
  });

  it('runOf returns ProtocolMismatch for an unknown protocol version, whatever else the message contains', () => {
    const words = podStatusWith(JSON.stringify({ protocol: 9, status: 'fine' }));
    expect(failure(words)).toMatchObject({
      reason: 'ProtocolMismatch',
      message: 'the agent reported protocol 9, this controller supports 1, 2, 3, 4, 5, 6',
    });
  });

  it("runOf returns the refusal's reason when the agent refused the request", () => {
    const refusal = { reason: 'StaleRequest', message: 'generation 7 was seen' };
    expect(failure(statusWith({ outcome: 'refused', nics: [], refusal }))).toMatchObject(refusal);
  });

  it.each([
    ['writes no message', podStatusWith('')],
    ['writes a message other than a result', podStatusWith('panic: nil')],
    ['writes a truncated result', podStatusWith(JSON.stringify(jobResult()).slice(0, 60))],
    ['omits a field', podStatusWith(JSON.stringify({ ...jobResult(), nics: undefined }))],
  ])('runOf returns ResultLost when an agent that exited with 0 %s', (_what, status) => {
    expect(failure(status)?.reason).toBe('ResultLost');
  });

  it.each([
    ['OutOfMemory', podStatusWith('', { exitCode: 137, reason: 'OOMKilled' }), undefined],
    ['Evicted', { ...podStatusWith('', { exitCode: 137 }), reason: 'Evicted' }, undefined],
    ['Unschedulable', { phase: 'Failed', reason: 'OutOfmemory', message: 'too small' }, undefined],
    ['DeadlineExceeded', undefined, failedJob('DeadlineExceeded')],
    ['DeadlineExceeded', { phase: 'Failed', reason: 'DeadlineExceeded' }, undefined],
    ['ResultLost', undefined, failedJob('BackoffLimitExceeded')],
    ['ResultLost', undefined, { conditions: [{ type: 'Complete', status: 'True' }] }],
    ['ResultLost', podStatusWith('', { exitCode: 255, reason: 'Unknown' }), undefined],
  ] as const)('runOf returns %s from the Pod or Job status', (reason, status, jobStatus) => {
    expect(failure(status, jobStatus as Job['status'])?.reason).toBe(reason);
  });

  const [failed] = failedJob('BackoffLimitExceeded')?.conditions ?? [];
  const suspendedJob = { type: 'Suspended', status: 'True', reason: 'JobSuspended' };
  const stillThere = agentIn({ running: {} });

  it.each<[string, Pod['status'] | undefined, readonly (object | undefined)[], string, boolean]>([
    [
      'a Job without its Pod',
      undefined,
      [failed, suspendedJob],
      'the Pod of the Job no longer exists',
      true,
    ],
    [
      'a terminated agent',
      podStatusWith('', { exitCode: 143 }),
      [suspendedJob],
      'exit code 143',
      true,
    ],
    ['a Pod that stays', stillThere, [failed, suspendedJob], 'still on the node', true],
    [
      'a Job that was resumed',
      undefined,
      [failed, { ...suspendedJob, status: 'False' }],
      'the Pod of the Job no longer exists',
      false,
    ],
  ])(
    'the message mentions a suspended Job only if the Job is suspended: %s',
    (_, status, conditions, words, isSuspended) => {
      const jobStatus = { conditions } as Job['status'];
      const message =
        run(status, jobStatus).trouble?.message ?? failure(status, jobStatus)?.message;
      expect(message).toContain(words);
      expect(message?.includes('suspended')).toBe(isSuspended);
    },
  );

  it("runOf returns the agent's result although the container was OOMKilled afterwards", () => {
    const message = JSON.stringify(jobResult());
    const status = podStatusWith(message, { exitCode: 137, reason: 'OOMKilled' });
    expect(run(status).ended?.verdict.kind).toBe('result');
  });

  it("runOf returns the newest Pod's result", () => {
    const older = pod(statusWith({ attempt: 9 }), {
      name: 'a',
      creationTimestamp: '2026-01-01T00:00:00Z',
    });
    const newer = pod(statusWith({}), { name: 'b', creationTimestamp: '2026-01-01T00:00:01Z' });
    expect(runOf(job(), [newer, older])?.ended?.verdict.kind).toBe('result');
  });
});

describe('an unfinished run', () => {
  it('a run is prepared while its Job is suspended', () => {
    expect(runOf(job(agentTask(), { spec: { suspend: true } }), [])?.phase).toBe('prepared');
  });

  it("a run is pending until the agent's container runs, then running", () => {
    expect(run().phase).toBe('pending');
    expect(run(agentIn({ waiting: { reason: 'ContainerCreating' } }, 'Pending'))).toMatchObject({
      phase: 'pending',
      trouble: undefined,
    });
    expect(run(agentIn({ running: {} })).phase).toBe('running');
  });

  it('a pending run waits for its Pod, then the kubelet, then its container', () => {
    expect(run().awaits).toBe('pod');
    expect(run({ phase: 'Pending' }).awaits).toBe('kubelet');
    const creating = agentIn({ waiting: { reason: 'ContainerCreating' } }, 'Pending');
    expect(run(creating).awaits).toBe('container');
    expect(run(agentIn({ running: {} }))).not.toHaveProperty('awaits');
    expect(runOf(job(agentTask(), { spec: { suspend: true } }), [])).not.toHaveProperty('awaits');
  });

  it.each([
    ['ErrImagePull', 'ImagePullFailed'],
    ['ImagePullBackOff', 'ImagePullFailed'],
    ['ErrImageNeverPull', 'ImagePullFailed'],
    ['InvalidImageName', 'ImagePullFailed'],
    ['CreateContainerError', 'JobFailed'],
  ])('a pending run reports %s as %s', (word, reason) => {
    const status = agentIn({ waiting: { reason: word, message: 'no such image' } }, 'Pending');
    expect(run(status).trouble).toEqual({ reason, message: `${word}: no such image` });
  });

  it('a pending run reports Unschedulable', () => {
    const scheduled = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'm',
    };
    expect(run({ phase: 'Pending', conditions: [scheduled] }).trouble).toEqual({
      reason: 'Unschedulable',
      message: 'm',
    });
  });

  it('a Job past its deadline is ending while its Pod is still on the node', () => {
    expect(run(agentIn({ running: {} }), failedJob('DeadlineExceeded'))).toMatchObject({
      phase: 'ending',
      ended: undefined,
      trouble: { reason: 'DeadlineExceeded' },
    });
  });

  it('a run is ending when its Job is being deleted', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(runOf(job(agentTask(), { metadata: { deletionTimestamp } }), [])?.phase).toBe('ending');
  });
});

it('runOf returns undefined for a Job without our labels', () => {
  expect(runOf({ metadata: { name: 'theirs', labels: {} } }, [])).toBeUndefined();
});
