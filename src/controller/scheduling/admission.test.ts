import { describe, expect, it } from 'vitest';
import { agentTask } from '../../../test/fixtures/controller-samples.ts';
import type { Run } from '../jobs/runner.ts';
import { type AdmissionOptions, createAdmission } from './admission.ts';

function run(name: string, node: string, phase: Run['phase'] = 'running'): Run {
  return { ...agentTask({ node }), name, phase, trouble: undefined, ended: undefined };
}

function admission(runs: Run[], options: Partial<AdmissionOptions> = {}) {
  const runner = {
    runsOn: (node: string) => runs.filter((one) => one.node === node),
    // A Job with a sidecar stays open after its agent has finished.
    open: () => runs,
  };
  return createAdmission({
    runner,
    occupied: () => false,
    nodes: { get: () => undefined },
    limit: () => 2,
    isImageProven: () => true,
    ...options,
  });
}

const candidate = (node: string) => ({
  key: `ns/${node}`,
  node,
  name: `job-${node}`,
  action: 'apply' as const,
  attempt: 1,
});

describe('admission', () => {
  it('a node admits only one agent at a time', () => {
    expect(admission([run('older', 'a')]).request(candidate('a'))).toMatchObject({
      granted: false,
      why: 'Job older is running on node a',
    });
    expect(admission([run('older', 'a', 'ended')]).request(candidate('a')).granted).toBe(true);
  });

  it('a granted start counts until released, even before the run is visible', () => {
    const admitting = admission([]);
    const first = admitting.request(candidate('a'));
    expect(admitting.request({ ...candidate('a'), name: 'other' }).granted).toBe(false);
    if (first.granted) first.release();
    expect(admitting.request({ ...candidate('a'), name: 'other' }).granted).toBe(true);
  });

  it('a third run is refused when two may run at once', () => {
    const admitting = admission([run('x', 'x')]);
    expect(admitting.request(candidate('a')).granted).toBe(true);
    expect(admitting.request(candidate('b'))).toMatchObject({
      granted: false,
      why: '2 of at most 2 agents are running',
    });
  });

  it('a prepared run may continue even above the limit', () => {
    const runs = [run('x', 'x'), run('y', 'y'), run('job-a', 'a', 'prepared')];
    expect(admission(runs).request(candidate('a')).granted).toBe(true);
  });

  it('a node occupied by the legacy controller admits no agent', () => {
    const admitting = admission([], { occupied: (node) => node === 'a' });
    expect(admitting.request(candidate('a')).granted).toBe(false);
    expect(admitting.request(candidate('b')).granted).toBe(true);
  });

  it('retries and clean-ups get at most half the slots, leaving slots for changes', () => {
    const retry = { ...run('x', 'x'), attempt: 2 };
    expect(admission([retry]).request({ ...candidate('a'), attempt: 2 })).toMatchObject({
      granted: false,
      why: '1 of at most 1 retries are running',
    });
    expect(admission([retry]).request(candidate('a')).granted).toBe(true);
    const cleanup = { ...run('x', 'x'), action: 'cleanup' as const };
    const another = { ...candidate('a'), action: 'cleanup' as const };
    expect(admission([cleanup]).request(another).granted).toBe(false);
  });

  it('runs being deleted and runs on unreachable nodes do not count against the limit', () => {
    const unready = { type: 'Ready', status: 'Unknown', reason: '', message: '' };
    const silent = { metadata: { name: 'z' }, status: { conditions: [unready] } };
    const runs = [run('x', 'x', 'ending'), run('y', 'y'), run('z', 'z')];
    const nodes = { get: (name: string) => (name === 'z' ? silent : undefined) };
    expect(admission(runs, { nodes }).request(candidate('a')).granted).toBe(true);
    expect(admission(runs).request(candidate('a')).granted).toBe(false);
  });

  it('a granted start that is already visible counts once', () => {
    const runs: Run[] = [];
    const admitting = admission(runs);
    admitting.request(candidate('a'));
    runs.push(run('job-a', 'a'));
    expect(admitting.request(candidate('b')).granted).toBe(true);
  });

  it.each([
    ['two slots are free', [], ['ns/a', 'ns/b']],
    ['one slot is free', [run('x', 'x')], ['ns/a']],
    ['freed capacity is not visible yet', [run('x', 'x'), run('y', 'y')], ['ns/a']],
    [
      'two Jobs stay open due to sidecars',
      [run('x', 'x', 'ended'), run('y', 'y', 'ended')],
      ['ns/a', 'ns/b'],
    ],
  ])('wake returns the longest waiting keys, as many as may start: %s', (_case, left, first) => {
    const runs = [run('x', 'x'), run('y', 'y')];
    const admitting = admission(runs);
    for (const node of ['a', 'b', 'c']) admitting.request(candidate(node));
    runs.splice(0, runs.length, ...left);
    expect(admitting.wake()).toEqual(first);
    expect(admitting.wake()[0]).toBe(first.length === 2 ? 'ns/c' : 'ns/b');
  });

  it('wake returns a key waiting for its node only when the node is free', () => {
    const runs = [run('check-a', 'a'), run('y', 'y')];
    const admitting = admission(runs);
    for (const node of ['a', 'b']) admitting.request(candidate(node));
    runs.pop();
    expect(admitting.wake()).toEqual(['ns/b']);
    runs.pop();
    expect(admitting.wake()).toEqual(['ns/a']);
    expect(admitting.wake()).toEqual([]);
  });

  it('an unproven image admits one agent at a time, and checks in parallel', () => {
    let isProven = false;
    const image = { limit: () => 4, isImageProven: () => isProven };
    const admitting = admission([run('x', 'x')], image);
    expect(admitting.request(candidate('a'))).toMatchObject({
      granted: false,
      why: expect.stringContaining('one node at a time; Job x is running') as string,
    });
    expect(admitting.request({ ...candidate('c'), action: 'check' }).granted).toBe(true);
    expect(admission([], image).request(candidate('a')).granted).toBe(true);
    admitting.request(candidate('b'));
    expect(admitting.wake()).toEqual(['ns/a']);
    admitting.request(candidate('a'));
    isProven = true;
    expect(admitting.wake()).toEqual(['ns/b', 'ns/a']);
  });

  it('wake skips a key admitted meanwhile', () => {
    const runs = [run('x', 'x'), run('y', 'y')];
    const admitting = admission(runs);
    expect(admitting.request(candidate('a')).granted).toBe(false);
    runs.length = 0;
    expect(admitting.request(candidate('a')).granted).toBe(true);
    expect(admitting.wake()).toEqual([]);
  });
});
