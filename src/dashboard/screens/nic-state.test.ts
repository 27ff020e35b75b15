import { expect, it } from 'vitest';
import { driftedNode } from '../../../test/fixtures/cli/played-operator.ts';
import type { NicView } from '../../api/read-http.ts';
import { nic, node } from '../../explain/testing/healthy.ts';
import { observedNode } from '../../explain/testing/observed.ts';
import { nicStateOf } from './nic-state.ts';

const file = 'replace /etc/netplan/90-multinic.yaml';

function drifted(message: string): NicView {
  return nic(17, 0, { reason: 'Drifted', message: `an apply would: ${message}` });
}

it.each([
  ['no difference', nic(17, 0), { kernel: true, bootFiles: true, changes: [[], []] }],
  [
    'a difference in the kernel',
    drifted('link set mtu 1450'),
    { kernel: false, bootFiles: true, changes: [['link set mtu 1450'], []] },
  ],
  [
    'a difference in a boot file',
    drifted(file),
    { kernel: true, bootFiles: false, changes: [[], [file]] },
  ],
  [
    'a failed apply',
    nic(17, 0, { state: 'Failed', reason: 'NICInUse' }),
    { kernel: undefined, bootFiles: undefined, changes: [[], []] },
  ],
  [
    'no check yet',
    nic(17, 0, { checkedAt: undefined }),
    { kernel: undefined, bootFiles: undefined, changes: [[], []] },
  ],
])('a NIC with %s is compared with kernel and boot files', (_, view, expected) => {
  const of = { ...driftedNode, drifted: view.reason === 'Drifted', nics: [view] };
  const { kernel, bootFiles } = nicStateOf(of, view, undefined);
  expect({
    kernel: kernel.isSame,
    bootFiles: bootFiles.isSame,
    changes: [kernel.changes, bootFiles.changes],
  }).toEqual(expected);
});

it('a warning about the next boot belongs to the boot files', () => {
  const message = 'warnings: NotPersistent multinic0 is not in a file';
  const { bootFiles, kernel } = nicStateOf(
    node(17, { message, object: undefined }),
    nic(17, 0),
    undefined,
  );
  expect(kernel.isSame).toBe(true);
  expect(bootFiles).toMatchObject({
    isSame: false,
    warnings: ['NotPersistent multinic0 is not in a file'],
  });
});

it('a file of a different program stands with the boot files, its addresses with the kernel', () => {
  const of = observedNode(18);
  const view = of.nics.find(({ found }) => found?.file !== undefined);
  if (!view) throw new Error('no NIC with a foreign file');
  const { kernel, bootFiles } = nicStateOf(of, view, undefined);
  expect(bootFiles.found.map(({ en }) => en).join()).toContain(view.found?.file);
  expect(kernel.found.map(({ en }) => en).join()).not.toContain(view.found?.file);
});

it('the desired state has all delivered fields; without the delivery the planned ones', () => {
  const delivered = {
    name: 'multinic0',
    macAddress: 'fa:16:3e:00:00:17',
    address: '10.20.0.17',
    mtu: 9000,
    gateway: '10.20.0.1',
    routing: 'pbr' as const,
    routes: [{ to: '10.9.0.0/16', via: '10.20.0.1', metric: 5 }, { to: '10.8.0.0/16' }],
    subnets: [{ cidr: '10.21.0.0/24', gateway: '10.21.0.1' }],
  };
  const { desired } = nicStateOf(node(17), nic(17, 0), delivered);
  expect(Object.fromEntries(desired.map(({ field, value }) => [field, value]))).toEqual({
    name: 'multinic0',
    macAddress: 'fa:16:3e:00:00:17',
    addresses: '10.20.0.17',
    mtu: '9000',
    gateway: '10.20.0.1',
    routing: 'pbr',
    routes: '10.9.0.0/16 via 10.20.0.1 metric 5, 10.8.0.0/16',
    subnets: '10.21.0.0/24 gateway 10.21.0.1',
  });
  const planned = nicStateOf(node(17), nic(17, 0), undefined).desired;
  expect(planned.map(({ field }) => field)).toEqual(['name', 'macAddress', 'addresses', 'mtu']);
});
