import { expect, it } from 'vitest';
import { type ConfigObject, statusOf } from '../openstack-config.ts';
import { situationOf } from './causes.ts';

const now = new Date('2026-01-01T00:10:00Z');

/** An OpenstackConfig that was looked at as it is now, and is not Ready for this reason. */
function lookedAt(reason: string, annotations: Readonly<Record<string, string>> = {}) {
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
  'InterfaceLimitExceeded',
  'NameConflict',
  'InvalidNodeName',
  'InvalidPort',
  'RemovalHeld',
  'RemovalUnsupported',
])('%s leaves nothing to be done before a person has done something', (reason) => {
  const object = lookedAt(reason);
  expect(situationOf(object, new Set([reason]), now).unfinished).toBe(false);
  expect(situationOf(object, new Set([reason, 'NeutronPortError']), now).unfinished).toBe(true);
});

it('who says that an object is to be taken over asks, where there is a conflict', () => {
  const said = { 'multinic.io/take-over-from': 'ns/other' };
  const reasons = new Set<string>();
  expect(situationOf(lookedAt('NameConflict', said), reasons, now).asked).toBe(true);
  expect(situationOf(lookedAt('NameConflict'), reasons, now).asked).toBe(false);
  expect(situationOf(lookedAt('ServerNotFound', said), reasons, now).asked).toBe(false);
});

it('an annotation asks once', () => {
  const object = lookedAt('ServerNotFound', { 'multinic.io/reconcile-at': 'now' });
  expect(situationOf(object, new Set(), now).asked).toBe(true);
  const status = { ...statusOf(object), lastHandledReconcileAt: 'now' };
  expect(situationOf({ ...object, status }, new Set(), now).asked).toBe(false);
});

it.each([
  ['NICsNotConfigured', 10, true],
  ['NoNodeStatus', 10, true],
  ['NICsNotConfigured', 20, false],
  ['NoPorts', 10, false],
])(
  '[H3] NICs that are not configured (%s) for %i minutes are followed: %s',
  (reason, minutes, follows) => {
    const at = { message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'Synced', ...at },
      { type: 'NICsReady', status: 'False', reason, ...at },
    ];
    const object = { ...lookedAt('Synced'), status: { observedGeneration: 1, conditions } };
    const later = new Date(Date.UTC(2026, 0, 1, 0, minutes));
    expect(situationOf(object, new Set(), later).unfinished).toBe(follows);
  },
);
