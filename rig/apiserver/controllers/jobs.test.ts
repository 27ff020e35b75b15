import { describe, expect, it } from 'vitest';
import { at, isList, type Json, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { type TestCluster, testCluster } from './cluster-in-test.ts';
import { garbageCollector } from './garbage-collector.ts';
import { jobController } from './jobs.ts';

function withJob(spec: JsonObject = {}): TestCluster {
  const test = testCluster(jobController, garbageCollector);
  const container = { name: 'agent', image: 'agent' };
  const template = {
    spec: { restartPolicy: 'Never', containers: [container], nodeName: 'node-a' },
  };
  test.create('jobs.batch', { name: 'job' }, { spec: { template, backoffLimit: 0, ...spec } });
  return test;
}

function end(test: TestCluster, phase: 'Succeeded' | 'Failed'): void {
  const [pod] = pods(test).filter((one) => at(one, 'status', 'phase') === 'Pending');
  if (!pod) throw new Error('no Pod is waiting');
  test.change('pods', pod.metadata.name, { status: { phase } }, 'status');
}

function pods(test: TestCluster): readonly KubeObject[] {
  return test.list('pods');
}

function trueConditions(test: TestCluster): Readonly<Record<string, Json | undefined>> {
  const conditions = at(test.get('jobs.batch', 'job'), 'status', 'conditions');
  const all = isList(conditions) ? conditions : [];
  const met = all.filter((one) => at(one, 'status') === 'True');
  const entries = met.map((one) => [at(one, 'type') as string, at(one, 'reason')] as const);
  return Object.fromEntries(entries);
}

function counters(test: TestCluster): JsonObject {
  const {
    conditions: _,
    startTime: __,
    completionTime: ___,
    ...counts
  } = at(test.get('jobs.batch', 'job'), 'status') as JsonObject;
  return counts;
}

const idle = { ready: 0, terminating: 0, uncountedTerminatedPods: {} };

describe('a Job', () => {
  it('makes one Pod that carries its labels, its owner and a finalizer until it is counted', async () => {
    using test = withJob();
    await test.settle();
    const [pod] = pods(test);
    const uid = test.get('jobs.batch', 'job')?.metadata.uid ?? '';
    expect(pod?.metadata.labels).toMatchObject({ 'job-name': 'job', 'controller-uid': uid });
    expect(pod?.metadata.ownerReferences).toMatchObject([{ kind: 'Job', uid, controller: true }]);
    expect(pod?.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
    expect(counters(test)).toEqual({ ...idle, active: 1 });
    end(test, 'Succeeded');
    await test.settle();
    expect(pods(test)[0]?.metadata.finalizers).toBeUndefined();
    expect(counters(test)).toEqual({ ...idle, succeeded: 1 });
    expect(trueConditions(test)).toEqual({
      SuccessCriteriaMet: 'CompletionsReached',
      Complete: 'CompletionsReached',
    });
  });

  it('fails with BackoffLimitExceeded after one failure more than it may have', async () => {
    using test = withJob({ backoffLimit: 1 });
    await test.settle();
    end(test, 'Failed');
    await test.settle(9_999);
    expect(counters(test)).toEqual({ ...idle, failed: 1 });
    await test.settle(1);
    expect(counters(test)).toEqual({ ...idle, failed: 1, active: 1 });
    end(test, 'Failed');
    await test.settle();
    expect(counters(test)).toEqual({ ...idle, failed: 2 });
    expect(trueConditions(test)).toEqual({
      FailureTarget: 'BackoffLimitExceeded',
      Failed: 'BackoffLimitExceeded',
    });
  });

  it('stops its Pod at the deadline and fails only when the Pod has stopped', async () => {
    using test = withJob({ activeDeadlineSeconds: 30 });
    await test.settle(29_000);
    expect(trueConditions(test)).toEqual({});
    await test.settle(1_000);
    expect(trueConditions(test)).toEqual({ FailureTarget: 'DeadlineExceeded' });
    expect(counters(test)).toMatchObject({ terminating: 1 });
    const [pod] = pods(test);
    expect(pod?.metadata.deletionGracePeriodSeconds).toBe(30);
    test.remove('pods', pod?.metadata.name ?? '', { gracePeriodSeconds: 0 });
    await test.settle();
    expect(pods(test)).toEqual([]);
    expect(trueConditions(test)).toEqual({
      FailureTarget: 'DeadlineExceeded',
      Failed: 'DeadlineExceeded',
    });
  });

  it('makes no Pod while it is suspended, and counts its time from when it was resumed', async () => {
    using test = withJob({ suspend: true });
    await test.settle(60_000);
    expect(pods(test)).toEqual([]);
    expect(trueConditions(test)).toEqual({ Suspended: 'JobSuspended' });
    const job = test.get('jobs.batch', 'job');
    test.change('jobs.batch', 'job', {
      spec: { ...(job?.['spec'] as JsonObject), suspend: false },
    });
    await test.settle();
    expect(pods(test)).toHaveLength(1);
    expect(trueConditions(test)).toEqual({});
    expect(at(test.get('jobs.batch', 'job'), 'status', 'startTime')).toBe('2026-01-01T00:01:00Z');
  });

  it('counts a Pod that somebody deleted as failed', async () => {
    using test = withJob();
    await test.settle();
    test.remove('pods', pods(test)[0]?.metadata.name ?? '', { gracePeriodSeconds: 0 });
    await test.settle();
    expect(counters(test)).toEqual({ ...idle, failed: 1 });
    expect(pods(test)).toEqual([]);
  });

  it('goes with its Pod when its time after the end is over', async () => {
    using test = withJob({ ttlSecondsAfterFinished: 60 });
    await test.settle();
    end(test, 'Succeeded');
    await test.settle(59_000);
    expect(test.get('jobs.batch', 'job')).toBeDefined();
    await test.settle(1_000);
    expect(test.get('jobs.batch', 'job')).toBeUndefined();
    expect(pods(test)).toEqual([]);
  });

  it('keeps its Pods when it is deleted without a policy, as batch/v1 does', async () => {
    using test = withJob();
    await test.settle();
    test.remove('jobs.batch', 'job');
    await test.settle();
    expect(test.get('jobs.batch', 'job')).toBeUndefined();
    expect(pods(test)).toHaveLength(1);
    expect(pods(test)[0]?.metadata.ownerReferences).toBeUndefined();
    expect(pods(test)[0]?.metadata.finalizers).toBeUndefined();
  });

  it('refuses a changed template and a restart policy that a Job cannot have', async () => {
    using test = withJob();
    await test.settle();
    const spec = test.get('jobs.batch', 'job')?.['spec'] as JsonObject;
    const template = { spec: { restartPolicy: 'Never', containers: [] } };
    expect(() => test.change('jobs.batch', 'job', { spec: { ...spec, template } })).toThrow(
      'field is immutable',
    );
    expect(() => withJob({ template: { spec: { restartPolicy: 'Always' } } })).toThrow(
      'valid values: "OnFailure", "Never"',
    );
  });
});
