import { expect, it } from 'vitest';
import { nodeConfig, order } from '../../test/beds/controller-samples.ts';
import { appliedIn, begun } from './applied.ts';
import { KeptRecords } from './kept-records.ts';

const key = 'multinic-system/worker-1';
const now = new Date('2026-11-25T10:00:00Z');
const applied = { ...begun(order(), 'job-1', { protocol: 3 }, now), bootId: 'boot-1', done: true };
const { bootId, ...cut } = applied;

const recordOf = (status: object | undefined) =>
  appliedIn(nodeConfig({ status: { ...status } }).status);
const configOf = (record: object | undefined) =>
  nodeConfig(record ? { status: { applied: record } } : {});

function recordsAfter(kept: object | undefined) {
  const told: (readonly string[])[] = [];
  const records = new KeptRecords((fields) => void told.push(fields));
  const answered = records.note(configOf(kept), { applied });
  return { records, told, answered };
}

it('gives back what was cut from a record, and tells each field once', () => {
  const { records, told, answered } = recordsAfter(cut);
  expect(recordOf(answered.status)).toEqual(applied);
  expect(recordOf(records.whole(configOf(cut)).status)).toEqual(applied);
  records.note(configOf(cut), { applied });
  const { done: _, ...more } = cut;
  records.note(configOf(more), { applied });
  expect(told).toEqual([['bootId'], ['done']]);
});

it.each([
  ['of another run', { ...cut, job: 'job-2' }],
  ['that says another thing', { ...cut, done: false }],
  ['with something of its own', { ...cut, worked: 3 }],
  ['that is none', { done: true }],
  ['that is gone', undefined],
])('leaves a record alone %s', (_, other) => {
  const { records } = recordsAfter(cut);
  const config = configOf(other);
  expect(records.whole(config)).toEqual(config);
});

it.each([
  ['whole', applied],
  ['as none', { done: true }],
  ['not at all', undefined],
])('remembers nothing where a record is kept %s', (_, kept) => {
  const { records, told } = recordsAfter(kept);
  expect(records.whole(configOf(cut))).toEqual(configOf(cut));
  expect(told).toEqual([]);
});

it('forgets a record when the next one is kept whole, or its object is gone', () => {
  const { records } = recordsAfter(cut);
  records.note(configOf(applied), { applied });
  expect(recordOf(records.whole(configOf(cut)).status)?.bootId).toBeUndefined();
  records.note(configOf(cut), { applied });
  records.forget(key);
  expect(recordOf(records.whole(configOf(cut)).status)?.bootId).toBeUndefined();
  expect(bootId).toBe('boot-1');
});
