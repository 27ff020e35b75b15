import { describe, expect, it } from 'vitest';
import {
  asksForWork,
  type ConfigObject,
  reconcileAtOf,
  statusOf,
  withFinalizer,
} from './openstack-config.ts';

const object: ConfigObject = {
  metadata: { name: 'osc', namespace: 'ns', uid: 'u', generation: 1, resourceVersion: '1' },
};

function changed(metadata: Partial<ConfigObject['metadata']>, rest: object = {}): boolean {
  const meta = { ...object.metadata, resourceVersion: '2', ...metadata };
  return asksForWork(object, { ...object, ...rest, metadata: meta });
}

describe('a change of an OpenstackConfig', () => {
  it('that is our own status or finalizer asks for nothing', () => {
    expect(changed({}, { status: { lastError: 'x' } })).toBe(false);
    expect(changed({ finalizers: ['multinic.example.com/cleanup'] })).toBe(false);
    expect(changed({ labels: { team: 'a' }, annotations: { note: 'b' } })).toBe(false);
  });

  it.each([
    [{ generation: 2 }],
    [{ uid: 'again' }],
    [{ deletionTimestamp: '2026-01-01T00:00:00Z' }],
    [{ annotations: { 'multinic.io/paused': 'true' } }],
    [{ annotations: { 'multinic.io/reconcile-at': '1' } }],
    [{ annotations: { 'multinic.example.com/force-reconcile': '1' } }],
    [{ annotations: { 'multinic.io/allow-removals': '1' } }],
  ])('of %j asks for a look', (metadata) => {
    expect(changed(metadata)).toBe(true);
  });
});

it('either annotation asks for a full sync, by its value', () => {
  const annotations = {
    'multinic.io/reconcile-at': '17',
    'multinic.example.com/force-reconcile': 'x',
  };
  expect(reconcileAtOf({ metadata: { ...object.metadata, annotations } })).toBe('17 x');
  expect(reconcileAtOf(object)).toBe('');
});

it('finalizers of earlier generations are replaced, those of others stay', () => {
  const finalizers = ['multinic.example.com/finalizer', 'other/one'];
  expect(withFinalizer({ metadata: { ...object.metadata, finalizers } })).toEqual([
    'other/one',
    'multinic.example.com/cleanup',
  ]);
});

it('a status of which a part cannot be read still says what was delivered where, and what was acted upon', () => {
  const status = {
    conditions: [{ type: 'Ready', status: 'yes' }],
    summary: 'all',
    nodes: [{ name: 'x'.repeat(300) }],
    deliveredTo: ['biz-1'],
    lastHandledAllowRemovals: 'yes',
  };
  expect(statusOf({ ...object, status })).toEqual({
    deliveredTo: ['biz-1'],
    lastHandledAllowRemovals: 'yes',
  });
  expect(statusOf({ ...object, status: 'none' })).toEqual({});
});
