import { describe, expect, it } from 'vitest';
import { nodeConfig, order } from '../../../test/fixtures/controller-samples.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import { appliedIn, begun } from '../jobs/applied.ts';
import { KeptStatuses } from './dropped-fields.ts';

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
  const statuses = new KeptStatuses((fields) => void told.push(fields));
  const answered = statuses.note(configOf(kept), { applied });
  return { statuses, told, answered };
}

describe('a record', () => {
  it('is whole again that was cut, and each lost field is told once', () => {
    const { statuses, told, answered } = recordsAfter(cut);
    expect(recordOf(answered.status)).toEqual(applied);
    expect(recordOf(statuses.whole(configOf(cut)).status)).toEqual(applied);
    statuses.note(configOf(cut), { applied });
    const { done: _, ...more } = cut;
    statuses.note(configOf(more), { applied });
    expect(told).toEqual([['status.applied.bootId'], ['status.applied.done']]);
  });

  it('is whole again while the rest of the status is another one', () => {
    const { statuses } = recordsAfter(cut);
    const other = nodeConfig({ status: { state: 'Failed', applied: cut } });
    expect(statuses.whole(other).status).toEqual({ state: 'Failed', applied });
  });

  it.each([
    ['of another run', { ...cut, job: 'job-2' }],
    ['that says another thing', { ...cut, done: false }],
    ['with something of its own', { ...cut, worked: 3 }],
    ['that is none', { done: true }],
    ['that is gone', undefined],
  ])('stays as it is %s', (_, other) => {
    const { statuses } = recordsAfter(cut);
    const config = configOf(other);
    expect(statuses.whole(config)).toEqual(config);
  });

  it.each([
    ['as none', { done: true }],
    ['not at all', undefined],
  ])('that is kept %s is none', (_, kept) => {
    const { answered, statuses, told } = recordsAfter(kept);
    expect(recordOf(answered.status)).toBeUndefined();
    expect(recordOf(statuses.whole(configOf(kept)).status)).toBeUndefined();
    expect(told).toHaveLength(1);
  });

  it('is forgotten when the next one is kept whole, or its object is gone', () => {
    const { statuses } = recordsAfter(cut);
    statuses.note(configOf(applied), { applied });
    expect(recordOf(statuses.whole(configOf(cut)).status)?.bootId).toBeUndefined();
    statuses.note(configOf(cut), { applied });
    statuses.forget(key);
    expect(recordOf(statuses.whole(configOf(cut)).status)?.bootId).toBeUndefined();
    expect(bootId).toBe('boot-1');
  });

  it('of an object is none of another one of the same name', () => {
    const { statuses } = recordsAfter(cut);
    const other = nodeConfig({ metadata: { uid: 'uid-2' }, status: { applied: cut } });
    expect(statuses.whole(other)).toBe(other);
  });
});

const nic = { macAddress: 'fa:16:3e:00:00:00', mtu: 1450, status: 'Configured' };
const written: NodeConfigStatus = { state: 'Configured', interfaceStatuses: [nic, nic] };

/** What is left of it where NICs have no MTU. */
function leftOf(status: NodeConfigStatus): NodeConfigStatus {
  const interfaceStatuses = status.interfaceStatuses?.map((each) => ({ ...each, mtu: undefined }));
  return { ...status, ...(interfaceStatuses ? { interfaceStatuses } : {}) };
}

function statusesAfter(status: NodeConfigStatus | undefined) {
  const told: (readonly string[])[] = [];
  const statuses = new KeptStatuses((fields) => void told.push(fields));
  const answered = statuses.note(nodeConfig(status ? { status } : {}), written);
  return { statuses, told, answered };
}

describe('a status', () => {
  it('is whole again as long as the cluster has what it kept of it', () => {
    const { statuses, told, answered } = statusesAfter(leftOf(written));
    expect(answered.status).toEqual(written);
    const labelled = nodeConfig({ metadata: { labels: { a: 'b' } }, status: leftOf(written) });
    expect(statuses.whole(labelled).status).toEqual(written);
    const edited = nodeConfig({ status: { ...leftOf(written), state: 'Failed' } });
    expect(statuses.whole(edited)).toEqual(edited);
    expect(told).toEqual([['status.interfaceStatuses[].mtu']]);
  });

  it('of which nothing is kept is whole again, too', () => {
    const { answered, told } = statusesAfter(undefined);
    expect(answered.status).toEqual(written);
    expect(told).toEqual([['status']]);
  });

  it('that is kept whole is not remembered', () => {
    const { statuses, told, answered } = statusesAfter(written);
    expect(answered.status).toEqual(written);
    const left = nodeConfig({ status: leftOf(written) });
    expect(statuses.whole(left)).toBe(left);
    expect(told).toEqual([]);
  });

  it('is known in what is left of it, once it is known what is lost', () => {
    const { statuses } = statusesAfter(leftOf(written));
    const next: NodeConfigStatus = { state: 'Failed', interfaceStatuses: [nic] };
    expect(statuses.isLeftOf(next, next)).toBe(true);
    expect(statuses.isLeftOf(leftOf(next), next)).toBe(true);
    expect(statuses.isLeftOf({ ...leftOf(next), state: 'Pending' }, next)).toBe(false);
    expect(statuses.isLeftOf({ state: 'Failed' }, next)).toBe(false);
    expect(statuses.isLeftOf({ ...next, interfaceStatuses: [] }, next)).toBe(false);
    const more = [...(leftOf(next).interfaceStatuses ?? []), nic];
    expect(statuses.isLeftOf({ ...next, interfaceStatuses: more }, next)).toBe(false);
    expect(statuses.isLeftOf(undefined, next)).toBe(false);
  });
});
