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
    // A Job with a sidecar goes on when its agent has ended.
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
  it('lets one agent at a time onto a node', () => {
    expect(admission([run('older', 'a')]).request(candidate('a'))).toMatchObject({
      granted: false,
      why: 'older is at work on node a',
    });
    expect(admission([run('older', 'a', 'ended')]).request(candidate('a')).granted).toBe(true);
  });

  it('counts a start that is not visible yet, until it is released', () => {
    const admitting = admission([]);
    const first = admitting.request(candidate('a'));
    expect(admitting.request({ ...candidate('a'), name: 'other' }).granted).toBe(false);
    if (first.granted) first.release();
    expect(admitting.request({ ...candidate('a'), name: 'other' }).granted).toBe(true);
  });

  it('lets no more than so many be at work at once', () => {
    const admitting = admission([run('x', 'x')]);
    expect(admitting.request(candidate('a')).granted).toBe(true);
    expect(admitting.request(candidate('b'))).toMatchObject({
      granted: false,
      why: '2 agents are at work, no more than 2 may be',
    });
  });

  it('lets a run that stands half-way go on, however many there are', () => {
    const runs = [run('x', 'x'), run('y', 'y'), run('job-a', 'a', 'prepared')];
    expect(admission(runs).request(candidate('a')).granted).toBe(true);
  });

  it('keeps off a node on which the deployed controller works', () => {
    const admitting = admission([], { occupied: (node) => node === 'a' });
    expect(admitting.request(candidate('a')).granted).toBe(false);
    expect(admitting.request(candidate('b')).granted).toBe(true);
  });

  it('gives further attempts and clean-ups half of the places, so that changes find one', () => {
    const retry = { ...run('x', 'x'), attempt: 2 };
    expect(admission([retry]).request({ ...candidate('a'), attempt: 2 })).toMatchObject({
      granted: false,
      why: '1 further attempts are under way, no more than 1 may be',
    });
    expect(admission([retry]).request(candidate('a')).granted).toBe(true);
    const cleanup = { ...run('x', 'x'), action: 'cleanup' as const };
    const another = { ...candidate('a'), action: 'cleanup' as const };
    expect(admission([cleanup]).request(another).granted).toBe(false);
  });

  it('does not count what will never end: what is being ended, and what is on a node that does not answer', () => {
    const unready = { type: 'Ready', status: 'Unknown', reason: '', message: '' };
    const silent = { metadata: { name: 'z' }, status: { conditions: [unready] } };
    const runs = [run('x', 'x', 'ending'), run('y', 'y'), run('z', 'z')];
    const nodes = { get: (name: string) => (name === 'z' ? silent : undefined) };
    expect(admission(runs, { nodes }).request(candidate('a')).granted).toBe(true);
    expect(admission(runs).request(candidate('a')).granted).toBe(false);
  });

  it('counts a start once that is visible before it is released', () => {
    const runs: Run[] = [];
    const admitting = admission(runs);
    admitting.request(candidate('a'));
    runs.push(run('job-a', 'a'));
    expect(admitting.request(candidate('b')).granted).toBe(true);
  });

  it.each([
    ['both places are free', [], ['ns/a', 'ns/b']],
    ['one place is free', [run('x', 'x')], ['ns/a']],
    ['what makes room does not show yet', [run('x', 'x'), run('y', 'y')], ['ns/a']],
    [
      'two Jobs with sidecars stay',
      [run('x', 'x', 'ended'), run('y', 'y', 'ended')],
      ['ns/a', 'ns/b'],
    ],
  ])('wakes who waits longest, as many as may start: %s', (_case, left, first) => {
    const runs = [run('x', 'x'), run('y', 'y')];
    const admitting = admission(runs);
    for (const node of ['a', 'b', 'c']) admitting.request(candidate(node));
    runs.splice(0, runs.length, ...left);
    expect(admitting.wake()).toEqual(first);
    expect(admitting.wake()[0]).toBe(first.length === 2 ? 'ns/c' : 'ns/b');
  });

  it('wakes who waits for its node when that is free, and not in the place of another', () => {
    const runs = [run('check-a', 'a'), run('y', 'y')];
    const admitting = admission(runs);
    for (const node of ['a', 'b']) admitting.request(candidate(node));
    runs.pop();
    expect(admitting.wake()).toEqual(['ns/b']);
    runs.pop();
    expect(admitting.wake()).toEqual(['ns/a']);
    expect(admitting.wake()).toEqual([]);
  });

  it('lets one agent of an unproven image work at a time, and checks beside it', () => {
    let isProven = false;
    const image = { limit: () => 4, isImageProven: () => isProven };
    const admitting = admission([run('x', 'x')], image);
    expect(admitting.request(candidate('a'))).toMatchObject({
      granted: false,
      why: expect.stringContaining('one node at a time; x is at work') as string,
    });
    expect(admitting.request({ ...candidate('c'), action: 'check' }).granted).toBe(true);
    expect(admission([], image).request(candidate('a')).granted).toBe(true);
    admitting.request(candidate('b'));
    expect(admitting.wake()).toEqual(['ns/a']);
    admitting.request(candidate('a'));
    isProven = true;
    expect(admitting.wake()).toEqual(['ns/b', 'ns/a']);
  });

  it('wakes nobody who has come again by itself and was let in', () => {
    const runs = [run('x', 'x'), run('y', 'y')];
    const admitting = admission(runs);
    expect(admitting.request(candidate('a')).granted).toBe(false);
    runs.length = 0;
    expect(admitting.request(candidate('a')).granted).toBe(true);
    expect(admitting.wake()).toEqual([]);
  });
});
