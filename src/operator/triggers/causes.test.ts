import { expect, it } from 'vitest';
import { type ConfigObject, statusOf } from '../openstack-config.ts';
import { situationOf } from './causes.ts';

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
  expect(situationOf(object, new Set([reason])).unfinished).toBe(false);
  expect(situationOf(object, new Set([reason, 'NeutronPortError'])).unfinished).toBe(true);
});

it('who says that an object is to be taken over asks, where there is a conflict', () => {
  const said = { 'multinic.io/take-over-from': 'ns/other' };
  const reasons = new Set<string>();
  expect(situationOf(lookedAt('NameConflict', said), reasons).asked).toBe(true);
  expect(situationOf(lookedAt('NameConflict'), reasons).asked).toBe(false);
  expect(situationOf(lookedAt('ServerNotFound', said), reasons).asked).toBe(false);
});

it('an annotation asks once', () => {
  const object = lookedAt('ServerNotFound', { 'multinic.io/reconcile-at': 'now' });
  expect(situationOf(object, new Set()).asked).toBe(true);
  const status = { ...statusOf(object), lastHandledReconcileAt: 'now' };
  expect(situationOf({ ...object, status }, new Set()).asked).toBe(false);
});
