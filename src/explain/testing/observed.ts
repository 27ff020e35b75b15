import type { NicView, NodeView } from '../../api/read-http.ts';
import { type Fault, nicWith, patch } from './fault.ts';
import { nic, node } from './healthy.ts';

const file = '/etc/netplan/50-cloud-init.yaml';
const checkedAt = '2026-11-26T05:24:50Z';

/** NIC with configuration from cloud-init's first boot, as in a check's result. */
export const leasedByCloudInit: Partial<NicView> = {
  state: 'Observed',
  reason: 'LeasedByHost',
  message: `${file} ethernets.ens5.dhcp4 configures the NIC`,
  code: 'FileConfiguresNic',
  args: `path=${file}`,
  checkedAt,
  found: {
    file,
    section: 'ethernets.ens5.dhcp4',
    dhcp: true,
    addresses: ['10.7.0.31/24'],
    routes: ['default via 10.7.0.1'],
    nameServers: ['10.7.0.2'],
  },
};

const pending = {
  state: 'Observed',
  reason: 'Drifted',
  message:
    'an apply would: ip link set dev ens6 name multinic2; create /etc/netplan/92-multinic2.yaml',
} as const;

/** Returns the port id for an observed node's third NIC. */
export function observedPort(number: number): string {
  return `b0000000-0000-4000-8000-${number}002`;
}

/** Node in mode Observe: a NIC as requested, a NIC with foreign configuration, and a NIC without configuration. */
export function observedNode(number: number, ofSecond: Partial<NicView> = {}): NodeView {
  const third = {
    name: 'multinic2',
    portId: observedPort(number),
    macAddress: `fa:16:3e:00:02:${number}`,
    ...pending,
  };
  return node(number, {
    mode: 'Observe',
    state: 'Observed',
    ready: 'Unknown',
    reason: 'Observed',
    message: 'observe only: 1 of 3 NICs is configured as requested',
    checkedAt,
    nics: [
      nic(number, 0),
      nic(number, 1, { ...leasedByCloudInit, ...ofSecond }),
      nic(number, 1, third),
    ],
  });
}

const ofNode = { state: 'Observed', ready: 'Unknown', reason: 'Observed' } as const;

/** Nodes in mode Observe: neither failed nor configured. */
export const observedFaults: readonly Fault[] = [
  {
    title: 'NIC that cloud-init configured, on an observed node',
    facts: nicWith(leasedByCloudInit, ofNode),
    step: 'Agent',
    result: 'warn',
    reason: 'LeasedByHost',
    evidence: ['an apply would refuse the NIC', file, 'ethernets.ens5.dhcp4'],
    command: 'kubectl multinic diff biz-1/worker-18',
    decides: ['node'],
  },
  {
    title: 'NIC without a link, on an observed node',
    facts: nicWith({ state: 'Observed', reason: 'WaitingForNIC', message: 'no link' }, ofNode),
    step: 'Agent',
    result: 'warn',
    reason: 'WaitingForNIC',
    evidence: ['no link'],
    command:
      'openstack server remove port 91c2d7e0-0000-4000-8000-000000000018 be0f33c1-0000-4000-8000-000000000077',
    decides: ['node'],
  },
  {
    title: 'NIC that an apply would configure, on an observed node',
    facts: nicWith(pending, ofNode),
    step: 'Agent',
    result: 'warn',
    reason: 'Observed',
    evidence: ['spec.settings.mode is Observe', 'an apply would: ip link set'],
    command: `${patch} merge -p '{"spec":{"settings":{"mode":"Apply"}}}'`,
    decides: ['node'],
  },
  {
    title: 'observed node with a controller of an earlier release',
    facts: nicWith(
      { state: 'Pending' },
      { mode: 'Observe', state: 'Pending', ready: 'Unknown', reason: 'Paused' },
    ),
    step: 'Acceptance',
    reason: 'Observed',
    evidence: ['does not know mode Observe'],
    command: '',
    decides: ['node'],
  },
  {
    title: 'NIC whose file cloud-init wrote',
    facts: nicWith(
      { ...leasedByCloudInit, state: 'Failed' },
      { ready: 'False', state: 'Failed', reason: 'LeasedByHost' },
    ),
    step: 'Agent',
    reason: 'LeasedByHost',
    evidence: [file],
    command: 'kubectl multinic diff biz-1/worker-18',
    decides: ['node'],
  },
];
