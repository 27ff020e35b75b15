import { expect, it } from 'vitest';
import { linkOf } from './shown-findings.ts';

const known = {
  configs: new Set(['multinic-system/storage', 'biz-1/odd']),
  providers: new Set(['biz-1']),
};

it.each([
  [
    'openstack',
    'multinic-system/storage',
    { kind: 'config', namespace: 'multinic-system', name: 'storage' },
  ],
  ['nodes', 'biz-1/odd', { kind: 'node', providerId: 'biz-1', nodeName: 'odd' }],
  ['openstack', 'biz-1/odd', { kind: 'config', namespace: 'biz-1', name: 'odd' }],
  ['delivery', 'biz-1', { kind: 'cluster', providerId: 'biz-1' }],
  ['nodes', 'biz-1/worker-1', { kind: 'node', providerId: 'biz-1', nodeName: 'worker-1' }],
  [
    'nodes',
    'biz-1/worker-1/multinic3',
    { kind: 'nic', providerId: 'biz-1', nodeName: 'worker-1', nic: 'multinic3' },
  ],
  ['nodes', 'biz-9/worker-1', { kind: 'node', providerId: 'biz-9', nodeName: 'worker-1' }],
  ['parts', 'viola', { kind: 'other' }],
  ['parts', 'biz-1/controller', { kind: 'cluster', providerId: 'biz-1' }],
  ['network', 'storage network', { kind: 'other' }],
] as const)('a finding of section %s about %s links to %j', (section, subject, link) => {
  expect(linkOf({ section, subject }, known)).toEqual(link);
});
