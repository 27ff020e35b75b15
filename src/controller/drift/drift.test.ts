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
import { nodeEventsOf } from '../jobs/node-events.ts';
import type { NodeEvents } from '../jobs/runner.ts';
import { checkResult, contentOfCheck, dueOn, pauseOf } from './drift.ts';

const at = new Date('2026-01-02T03:04:05Z');
const failedAnswer = (change: Partial<JobResult>) =>
  jobResult({ outcome: 'failed', nics: [], ...change });
const endOf = (result: JobResult) => checkResult({ kind: 'result', result });
const events: NodeEvents = { bootId: 'boot-1', readySince: 'monday', checkAsked: 'one' };
const young = { ageMs: 0, intervalMs: 100_000, lastCheckMs: Infinity };
const done = { kind: 'result', result: { outcome: 'ok', nics: [] } } as never;

function appliedAt(occasion: NodeEvents) {
  return ended(begun(agentTask({ occasion }), 'job-1', { protocol: 2 }, at), done, at);
}

describe('dueOn', () => {
  it.each([
    ['boot', { bootId: 'boot-2' }],
    ['ready', { readySince: 'tuesday' }],
    ['asked', { checkAsked: 'two' }],
    ['boot', { bootId: 'boot-2', readySince: 'tuesday', checkAsked: 'two' }],
  ])('dueOn returns %s for a new event, and undefined for a recorded event: %j', (due, change) => {
    expect(dueOn(appliedAt(events), { ...events, ...change }, young)).toBe(due);
    expect(
      dueOn(appliedAt({ ...events, ...change }), { ...events, ...change }, young),
    ).toBeUndefined();
  });

  it.each([
    [
      'omits boot id, Ready time and annotation',
      events,
      { bootId: undefined, readySince: undefined, checkAsked: undefined },
    ],
    ['has values missing in an earlier version’s record', { bootId: 'boot-1' }, events],
  ])('dueOn returns undefined for a Node that %s', (_what, before: NodeEvents, now: NodeEvents) => {
    const asked = before.checkAsked === undefined ? { checkAsked: undefined } : {};
    expect(dueOn(appliedAt(before), { ...now, ...asked }, young)).toBeUndefined();
  });

  it('dueOn returns interval after the check interval ±20 %, derived from the Job name', () => {
    const applied = appliedAt(events);
    const pause = pauseOf(applied, 100_000);
    expect(dueOn(applied, events, { ...young, ageMs: pause - 1 })).toBeUndefined();
    expect(dueOn(applied, events, { ...young, ageMs: pause })).toBe('interval');
    const pauses = Array.from({ length: 100 }, (_, i) =>
      pauseOf({ ...applied, job: `job-${i}` }, 100_000),
    );
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(80_000);
    expect(Math.min(...pauses)).toBeLessThan(85_000);
    expect(Math.max(...pauses)).toBeGreaterThan(115_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(120_000);
  });
});

it('contentOfCheck is equal for the same check and different for any new event', () => {
  const applied = appliedAt(events);
  const contents = [
    contentOfCheck(applied, events),
    contentOfCheck(applied, { ...events, bootId: 'boot-2' }),
    contentOfCheck(applied, { ...events, readySince: 'tuesday' }),
    contentOfCheck(applied, { ...events, checkAsked: 'two' }),
    contentOfCheck(applied, { ...events, healAsked: 'two' }),
    contentOfCheck({ ...applied, content: 'content-b' }, events),
    contentOfCheck({ ...applied, checkedAt: '2026-01-03T00:00:00Z' }, events),
  ];
  expect(new Set(contents).size).toBe(contents.length);
  expect(contentOfCheck(applied, { ...events })).toBe(contents[0]);
});

it('nodeEventsOf reads bootId, Ready time and annotation, cut to 64 characters', () => {
  const worker = node('worker-1', 'uuid');
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: 'monday' }];
  const config = nodeConfig();
  const annotations = { 'multinic.io/check': 'x'.repeat(100), 'multinic.io/heal': 'y' };
  const asked = { ...config, metadata: { ...config.metadata, annotations } };
  const status = { ...worker.status, conditions, nodeInfo: { bootID: 'boot-1' } };
  expect(nodeEventsOf(asked, { ...worker, status } as never)).toEqual({
    bootId: 'boot-1',
    readySince: 'monday',
    checkAsked: 'x'.repeat(64),
    healAsked: 'y',
  });
});

it('nodeEventsOf cuts the annotation between characters, as the API server stores the value', () => {
  const annotations = { 'multinic.io/check': `${'x'.repeat(63)}\u{1F600}` };
  const config = nodeConfig({ metadata: { annotations } });
  const { checkAsked } = nodeEventsOf(config, node('worker-1', 'uuid'));
  expect(Buffer.from(String(checkAsked)).toString()).toBe(checkAsked);
});

it('checkResult returns a failure if no NIC was inspected, otherwise the result', () => {
  const failure = { reason: 'JobFailed', message: 'no ip command' } as const;
  expect(endOf(failedAnswer({ warnings: ['no ip command'] }))).toEqual({ failure });
  expect(endOf(failedAnswer({}))).toMatchObject({
    failure: { message: 'the agent reported outcome "failed"' },
  });
  const reasons = ['ApplyFailed', 'Drifted'] as const;
  const nics = reasons.map((reason, index) => nicResult(index, { state: 'Failed', reason }));
  for (const result of [failedAnswer({ outcome: 'ok' }), failedAnswer({ nics })]) {
    expect(endOf(result)).toEqual({ result });
  }
  const notInspected = nicResult(0, {
    state: 'Failed',
    reason: 'ApplyFailed',
    message: 'no answer',
  });
  expect(endOf(failedAnswer({ nics: [notInspected] }))).toMatchObject({
    failure: { message: 'no answer' },
  });
});
