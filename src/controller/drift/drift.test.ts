import { describe, expect, it } from 'vitest';
import {
  agentTask,
  jobResult,
  nicResult,
  node,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import type { JobResult } from '../../api/job.ts';
import { begun, ended } from '../jobs/applied.ts';
import type { NodeEvents } from '../jobs/runner.ts';
import { checkResult, contentOfCheck, dueOn, nodeEventsOf, pauseOf } from './drift.ts';

const at = new Date('2026-01-02T03:04:05Z');
const failedAnswer = (change: Partial<JobResult>) =>
  jobResult({ outcome: 'failed', nics: [], ...change });
const endOf = (result: JobResult) => checkResult({ kind: 'result', result });
const seen: NodeEvents = { bootId: 'boot-1', readySince: 'monday', checkAsked: 'one' };
const young = { ageMs: 0, intervalMs: 100_000, lastCheckMs: Infinity };
const done = { kind: 'result', result: { outcome: 'ok', nics: [] } } as never;

function appliedAt(occasion: NodeEvents) {
  return ended(begun(agentTask({ occasion }), 'job-1', { protocol: 2 }, at), done, at);
}

describe('a node is looked at', () => {
  it.each([
    ['boot', { bootId: 'boot-2' }],
    ['ready', { readySince: 'tuesday' }],
    ['asked', { checkAsked: 'two' }],
    ['boot', { bootId: 'boot-2', readySince: 'tuesday', checkAsked: 'two' }],
  ])('for %s, not for what was seen before: %j', (due, change) => {
    expect(dueOn(appliedAt(seen), { ...seen, ...change }, young)).toBe(due);
    expect(dueOn(appliedAt({ ...seen, ...change }), { ...seen, ...change }, young)).toBeUndefined();
  });

  it.each([
    ['says less', seen, { bootId: undefined, readySince: undefined, checkAsked: undefined }],
    ['tells what no record of an earlier version has', { bootId: 'boot-1' }, seen],
  ])('not because it %s', (_what, before: NodeEvents, now: NodeEvents) => {
    const asked = before.checkAsked === undefined ? { checkAsked: undefined } : {};
    expect(dueOn(appliedAt(before), { ...now, ...asked }, young)).toBeUndefined();
  });

  it('for its age, a fifth sooner or later by the name of its Job', () => {
    const applied = appliedAt(seen);
    const pause = pauseOf(applied, 100_000);
    expect(dueOn(applied, seen, { ...young, ageMs: pause - 1 })).toBeUndefined();
    expect(dueOn(applied, seen, { ...young, ageMs: pause })).toBe('interval');
    const pauses = Array.from({ length: 100 }, (_, i) =>
      pauseOf({ ...applied, job: `job-${i}` }, 100_000),
    );
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(80_000);
    expect(Math.min(...pauses)).toBeLessThan(85_000);
    expect(Math.max(...pauses)).toBeGreaterThan(115_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(120_000);
  });
});

it('runs of one look have one content, and every other look another', () => {
  const applied = appliedAt(seen);
  const contents = [
    contentOfCheck(applied, seen),
    contentOfCheck(applied, { ...seen, bootId: 'boot-2' }),
    contentOfCheck(applied, { ...seen, readySince: 'tuesday' }),
    contentOfCheck(applied, { ...seen, checkAsked: 'two' }),
    contentOfCheck({ ...applied, content: 'content-b' }, seen),
    contentOfCheck({ ...applied, checkedAt: '2026-01-03T00:00:00Z' }, seen),
  ];
  expect(new Set(contents).size).toBe(contents.length);
  expect(contentOfCheck(applied, { ...seen })).toBe(contents[0]);
});

it('what happened to a node is read from the Node and from the annotation, up to 64 characters', () => {
  const worker = node('worker-1', 'uuid');
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: 'monday' }];
  const config = nodeConfig();
  const annotations = { 'multinic.io/check': 'x'.repeat(100) };
  const asked = { ...config, metadata: { ...config.metadata, annotations } };
  const status = { ...worker.status, conditions, nodeInfo: { bootID: 'boot-1' } };
  expect(nodeEventsOf(asked, { ...worker, status } as never)).toEqual({
    bootId: 'boot-1',
    readySince: 'monday',
    checkAsked: 'x'.repeat(64),
  });
});

it('an annotation is cut between characters: what is seen is what the server keeps', () => {
  const annotations = { 'multinic.io/check': `${'x'.repeat(63)}\u{1F600}` };
  const config = nodeConfig({ metadata: { annotations } });
  const { checkAsked } = nodeEventsOf(config, node('worker-1', 'uuid'));
  expect(Buffer.from(String(checkAsked)).toString()).toBe(checkAsked);
});

it('takes an answer in which no NIC was looked at for none, and any other for what it says', () => {
  const failure = { reason: 'JobFailed', message: 'no ip command' } as const;
  expect(endOf(failedAnswer({ warnings: ['no ip command'] }))).toEqual({ failure });
  expect(endOf(failedAnswer({}))).toMatchObject({ failure: { message: 'the agent says failed' } });
  const reasons = ['ApplyFailed', 'Drifted'] as const;
  const nics = reasons.map((reason, index) => nicResult(index, { state: 'Failed', reason }));
  for (const result of [failedAnswer({ outcome: 'ok' }), failedAnswer({ nics })]) {
    expect(endOf(result)).toEqual({ result });
  }
  const unseen = nicResult(0, { state: 'Failed', reason: 'ApplyFailed', message: 'no answer' });
  expect(endOf(failedAnswer({ nics: [unseen] }))).toMatchObject({
    failure: { message: 'no answer' },
  });
});
