import { describe, expect, it } from 'vitest';
import {
  type ConfigObject,
  needsReconcile,
  reconcileAtOf,
  statusOf,
  withFinalizer,
} from './openstack-config.ts';

const object: ConfigObject = {
  metadata: { name: 'osc', namespace: 'ns', uid: 'u', generation: 1, resourceVersion: '1' },
};

function changed(metadata: Partial<ConfigObject['metadata']>, rest: object = {}): boolean {
  const meta = { ...object.metadata, resourceVersion: '2', ...metadata };
  return needsReconcile(object, { ...object, ...rest, metadata: meta });
}

describe('needsReconcile', () => {
  it('a change to status, finalizers, labels or unrelated annotations needs no reconcile', () => {
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
  ])('a change to %j needs a reconcile', (metadata) => {
    expect(changed(metadata)).toBe(true);
  });
});

it('reconcileAtOf joins the values from both full-sync annotations', () => {
  const annotations = {
    'multinic.io/reconcile-at': '17',
    'multinic.example.com/force-reconcile': 'x',
  };
  expect(reconcileAtOf({ metadata: { ...object.metadata, annotations } })).toBe('17 x');
  expect(reconcileAtOf(object)).toBe('');
});

it('withFinalizer replaces finalizers from earlier generations, and keeps foreign finalizers', () => {
  const finalizers = ['multinic.example.com/finalizer', 'other/one'];
  expect(withFinalizer({ metadata: { ...object.metadata, finalizers } })).toEqual([
    'other/one',
    'multinic.example.com/cleanup',
  ]);
});

it('statusOf keeps readable fields from a partly invalid status, such as deliveredTo and handled annotations', () => {
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
