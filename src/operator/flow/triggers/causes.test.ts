import { expect, it } from 'vitest';
import { type ConfigObject, statusOf } from '../../model/openstack-config.ts';
import { syncCausesOf } from './causes.ts';

const now = new Date('2026-01-01T00:10:00Z');

/** Returns an OpenstackConfig synced at its present generation, with Ready False for this reason. */
function syncedWith(reason: string, annotations: Readonly<Record<string, string>> = {}) {
  const at = '2026-01-01T00:00:00Z';
  const ready = { type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: at };
  const metadata = { name: 'osc', namespace: 'ns', generation: 1, annotations };
  const status = { observedGeneration: 1, conditions: [ready] };
  return { metadata, status } as unknown as ConfigObject;
}

it.each([
  'ConfigError',
  'PolicyDenied',
  'SubnetRequired',
  'SubnetNotFound',
  'SubnetNotUnique',
  'ServerNotFound',
  'ServerNotUnique',
  'ServerSoftDeleted',
  'InterfaceLimitExceeded',
  'NameConflict',
  'InvalidNodeName',
  'InvalidPort',
  'RemovalHeld',
  'RemovalUnsupported',
])('reason %s needs a user, so the sync is not unfinished', (reason) => {
  const object = syncedWith(reason);
  expect(syncCausesOf(object, new Set([reason]), now).unfinished).toBe(false);
  expect(syncCausesOf(object, new Set([reason, 'NeutronPortError']), now).unfinished).toBe(true);
});

it('annotation take-over-from requests a sync only when Ready has reason NameConflict', () => {
  const takeOver = { 'multinic.io/take-over-from': 'ns/other' };
  const reasons = new Set<string>();
  expect(syncCausesOf(syncedWith('NameConflict', takeOver), reasons, now).asked).toBe(true);
  expect(syncCausesOf(syncedWith('NameConflict'), reasons, now).asked).toBe(false);
  expect(syncCausesOf(syncedWith('ServerNotFound', takeOver), reasons, now).asked).toBe(false);
});

it('annotation reconcile-at requests one sync', () => {
  const object = syncedWith('ServerNotFound', { 'multinic.io/reconcile-at': 'now' });
  expect(syncCausesOf(object, new Set(), now).asked).toBe(true);
  const status = { ...statusOf(object), lastHandledReconcileAt: 'now' };
  expect(syncCausesOf({ ...object, status }, new Set(), now).asked).toBe(false);
});

it.each([
  ['NICsNotConfigured', 10, true],
  ['NoNodeStatus', 10, true],
  ['NICsNotConfigured', 20, false],
  ['NoPorts', 10, false],
])('[H3] unconfigured NICs (%s) after %i minutes are followed: %s', (reason, minutes, follows) => {
  const at = { message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Synced', ...at },
    { type: 'NICsReady', status: 'False', reason, ...at },
  ];
  const object = { ...syncedWith('Synced'), status: { observedGeneration: 1, conditions } };
  const later = new Date(Date.UTC(2026, 0, 1, 0, minutes));
  expect(syncCausesOf(object, new Set(), later).unfinished).toBe(follows);
});
