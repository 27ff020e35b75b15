import { describe, expect, it } from 'vitest';
import type { ProtectionWanted } from '../../model/accepted.ts';
import { type AdmissionRequest, admissionReview } from './admission-review.ts';
import { type ProtectionRules, refusalOf } from './decision.ts';

const now = new Date('2026-11-26T12:00:00Z');
const labels = {
  'multinic.example.com/protected': 'true',
  'multinic.example.com/managed-by-operator': 'production',
};
const user = 'system:serviceaccount:multinic-system:multinic-operator';
const before = { metadata: { labels, annotations: { a: 'b' } }, spec: { replicas: 1 } };
const wanted: ProtectionWanted = { preventsMutations: true, recovers: true, allowed: new Set() };
const rules: ProtectionRules = {
  namespace: 'multinic-system',
  user,
  operator: 'production',
  wanted,
};

function request(change: object = {}): AdmissionRequest {
  return admissionReview.parse({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '1',
      operation: 'UPDATE',
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      name: 'multinic-controller',
      namespace: 'multinic-system',
      userInfo: { username: 'admin', groups: ['system:masters'] },
      object: { ...before, spec: { replicas: 0 } },
      oldObject: before,
      fieldOfALaterVersion: true,
      ...change,
    },
  }).request;
}

const scale = {
  subResource: 'scale',
  object: { metadata: {}, spec: { replicas: 0 } },
  oldObject: { metadata: {}, spec: { replicas: 1 } },
};
const removal = { operation: 'DELETE', object: null };
const edited = (metadata: object, more: object = {}) => ({
  object: { ...before, metadata: { ...before.metadata, ...metadata }, ...more },
});

describe('refusalOf', () => {
  it.each<[string, object]>([
    ['a changed spec', {}],
    ['a removed label protected', edited({ labels: {} })],
    [
      'a label set to false',
      edited({ labels: { ...labels, 'multinic.example.com/protected': 'f' } }),
    ],
    [
      'another operator in the label',
      edited({ labels: { ...labels, 'multinic.example.com/managed-by-operator': 'x' } }),
    ],
    ['an owner reference', edited({ ownerReferences: [{ uid: '1' }] })],
    [
      'changed data',
      { object: { ...before, data: { a: 'c' } }, resource: { resource: 'secrets' } },
    ],
    ['changed binary data', edited({}, { binaryData: { a: 'Yw==' } })],
    ['a Secret made immutable', edited({}, { immutable: true })],
    ['a removed spec', { object: { metadata: before.metadata } }],
    ['a deletion', removal],
    ['a deletion of a claim', { ...removal, resource: { resource: 'persistentvolumeclaims' } }],
    ['a scale by name', scale],
  ])('refusalOf refuses %s', (_, change) => {
    expect(refusalOf(request(change), rules, now)).toMatch(
      /^Direct modification of MultiNic protected resource is not allowed\. This resource is managed by MultiNicOperator 'production'\. Please modify the MultiNicOperator configuration instead\. Change spec\..*multinic\.io\/break-glass/,
    );
  });

  it.each<[string, object]>([
    ['a foreign annotation', edited({ annotations: { a: 'c' } })],
    ['a changed status', edited({}, { status: { replicas: 1 } })],
    ['a foreign label', edited({ labels: { ...labels, team: 'x' } })],
    ['an object without our label', { oldObject: { spec: {} }, object: { spec: { a: 1 } } }],
    ['an update of a claim', { resource: { resource: 'persistentvolumeclaims' } }],
    ['a status subresource', { subResource: 'status' }],
    ['a creation', { operation: 'CREATE', oldObject: null }],
    ['a scale of a foreign Deployment', { ...scale, name: 'other' }],
    ['another namespace', { namespace: 'default' }],
    ['lifecycle itself', { userInfo: { username: user } }],
    [
      'a controller',
      { userInfo: { username: 'x', groups: ['system:serviceaccounts:kube-system'] } },
    ],
    ['a node', { userInfo: { username: 'system:node:a', groups: ['system:nodes'] } }],
    ['the controller manager', { userInfo: { username: 'system:kube-controller-manager' } }],
    ['the scheduler', { userInfo: { username: 'system:kube-scheduler' } }],
  ])('refusalOf allows %s', (_, change) => {
    expect(refusalOf(request(change), rules, now)).toBeUndefined();
  });

  const later = new Date(now.getTime() + 1);
  it.each<[string, Partial<ProtectionRules>, object, boolean]>([
    ['without a MultiNicOperator', { operator: undefined }, {}, false],
    ['while the spec cannot be used', { wanted: undefined }, {}, true],
    ['with prevention off', { wanted: { ...wanted, preventsMutations: false } }, {}, false],
    ['during break-glass', { wanted: { ...wanted, breakGlassUntil: later } }, {}, false],
    ['after break-glass', { wanted: { ...wanted, breakGlassUntil: now } }, {}, true],
    ['with update open', { wanted: { ...wanted, allowed: new Set(['update']) } }, {}, false],
    ['with delete open', { wanted: { ...wanted, allowed: new Set(['delete']) } }, {}, true],
    ['delete open', { wanted: { ...wanted, allowed: new Set(['delete']) } }, removal, false],
    ['scale open', { wanted: { ...wanted, allowed: new Set(['scale']) } }, scale, false],
  ])('refusalOf decides %s', (_, change, requested, isRefused) => {
    const refusal = refusalOf(request(requested), { ...rules, ...change }, now);
    expect(refusal !== undefined).toBe(isRefused);
  });

  it.each([
    ['deployments', 'multinic-controller', '', 'spec.controller, '],
    ['deployments', 'multinic-controller', 'scale', 'spec.controller.replicas'],
    ['statefulsets', 'mariadb', '', 'spec.database'],
    ['services', 'multinic-operator-inventory-service', '', 'spec.controller'],
    ['secrets', 'mariadb-credentials', '', 'spec.database.credentials'],
    ['persistentvolumeclaims', 'mysql-storage-mariadb-0', '', 'spec.database.storageSize'],
    ['cronjobs', 'mariadb-backup', '', 'spec.database.backup'],
    ['configmaps', 'multinic-operator-triggers', '', 'spec.reconcileTrigger'],
  ])('refusalOf names the field for %s %s %s', (resource, name, subResource, field) => {
    const change = { ...removal, resource: { resource }, name, subResource };
    const asked = request(subResource === '' ? change : { ...scale, resource: { resource }, name });
    expect(refusalOf(asked, rules, now)).toContain(`Change ${field}`);
  });
});
