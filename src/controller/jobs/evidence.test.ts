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
  const seen = runOf(
    job(agentTask(), jobStatus ? { status: jobStatus } : {}),
    status ? [pod(status)] : [],
  );
  if (!seen) throw new Error('not a run');
  return seen;
}

function failure(status?: Pod['status'], jobStatus?: Job['status']) {
  const verdict = run(status, jobStatus).ended?.verdict;
  return verdict?.kind === 'failure' ? verdict : undefined;
}

const said = (change: object): NonNullable<Pod['status']> =>
  podStatusWith(JSON.stringify({ ...jobResult(), ...change }));

describe('what a run that has ended came to', () => {
  it('is what the agent reports about this very run, whatever its clock says', () => {
    expect(run(said({})).ended).toEqual({
      verdict: { kind: 'result', result: jobResult() },
    });
  });

  it.each([
    ['another object', { uid: 'uid-2' }],
    ['an older generation', { generation: 0 }],
    ['another attempt', { attempt: 2 }],
  ])('is not what the agent reports about %s', (_what, change) => {
    expect(failure(said(change))?.reason).toBe('ResultLost');
  });

  it('is ProtocolMismatch when the agent speaks another protocol, whatever else it says', () => {
    const words = podStatusWith(JSON.stringify({ protocol: 4, status: 'fine' }));
    expect(failure(words)).toMatchObject({
      reason: 'ProtocolMismatch',
      message: 'the agent answers in protocol 4, this controller speaks 1, 2, 3',
    });
  });

  it('is the reason of a refusal: nothing was touched then', () => {
    const refusal = { reason: 'StaleRequest', message: 'generation 7 was seen' };
    expect(failure(said({ outcome: 'refused', nics: [], refusal }))).toMatchObject(refusal);
  });

  it.each([
    ['says nothing', podStatusWith('')],
    ['says something that is no result', podStatusWith('panic: nil')],
    ['was cut off in the middle', podStatusWith(JSON.stringify(jobResult()).slice(0, 60))],
    ['leaves a field out', podStatusWith(JSON.stringify({ ...jobResult(), nics: undefined }))],
  ])('is ResultLost when an agent that exited with 0 %s', (_what, status) => {
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
  ] as const)('is %s when Kubernetes says so', (reason, status, jobStatus) => {
    expect(failure(status, jobStatus as Job['status'])?.reason).toBe(reason);
  });

  const [failed] = failedJob('BackoffLimitExceeded')?.conditions ?? [];
  const suspendedJob = { type: 'Suspended', status: 'True', reason: 'JobSuspended' };
  const stillThere = agentIn({ running: {} });

  it.each<[string, Pod['status'] | undefined, readonly (object | undefined)[], string, boolean]>([
    ['a Job without its Pod', undefined, [failed, suspendedJob], 'the Pod is gone', true],
    [
      'an agent that was ended',
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
      'the Pod is gone',
      false,
    ],
  ])(
    'says that another client suspended the Job, or not: %s',
    (_, status, conditions, words, isSuspended) => {
      const jobStatus = { conditions } as Job['status'];
      const message =
        run(status, jobStatus).trouble?.message ?? failure(status, jobStatus)?.message;
      expect(message).toContain(words);
      expect(message?.includes('suspended')).toBe(isSuspended);
    },
  );

  it('is what the agent reported before it was killed for memory', () => {
    const message = JSON.stringify(jobResult());
    const status = podStatusWith(message, { exitCode: 137, reason: 'OOMKilled' });
    expect(run(status).ended?.verdict.kind).toBe('result');
  });

  it('is what the newest Pod says', () => {
    const older = pod(said({ attempt: 9 }), {
      name: 'a',
      creationTimestamp: '2026-01-01T00:00:00Z',
    });
    const newer = pod(said({}), { name: 'b', creationTimestamp: '2026-01-01T00:00:01Z' });
    expect(runOf(job(), [newer, older])?.ended?.verdict.kind).toBe('result');
  });
});

describe('a run on its way', () => {
  it('is prepared while its Job is suspended', () => {
    expect(runOf(job(agentTask(), { spec: { suspend: true } }), [])?.phase).toBe('prepared');
  });

  it('is pending until the agent runs, then running', () => {
    expect(run().phase).toBe('pending');
    expect(run(agentIn({ waiting: { reason: 'ContainerCreating' } }, 'Pending'))).toMatchObject({
      phase: 'pending',
      trouble: undefined,
    });
    expect(run(agentIn({ running: {} })).phase).toBe('running');
  });

  it('waits for who makes its Pod, then for its kubelet, then for its container', () => {
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
  ])('tells of %s while it waits', (word, reason) => {
    const status = agentIn({ waiting: { reason: word, message: 'no such image' } }, 'Pending');
    expect(run(status).trouble).toEqual({ reason, message: `${word}: no such image` });
  });

  it('tells that it cannot be scheduled', () => {
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

  it('has not ended while the Pod of a Job over its deadline is still on the node', () => {
    expect(run(agentIn({ running: {} }), failedJob('DeadlineExceeded'))).toMatchObject({
      phase: 'ending',
      ended: undefined,
      trouble: { reason: 'DeadlineExceeded' },
    });
  });

  it('is ending when somebody deletes its Job', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(runOf(job(agentTask(), { metadata: { deletionTimestamp } }), [])?.phase).toBe('ending');
  });
});

it('does not take a Job without our labels for a run', () => {
  expect(runOf({ metadata: { name: 'theirs', labels: {} } }, [])).toBeUndefined();
});
