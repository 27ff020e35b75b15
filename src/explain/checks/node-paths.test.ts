import { describe, expect, it } from 'vitest';
import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { InterfaceSpec, InterfaceStatus } from '../../api/multinicnodeconfig.ts';
import { clusterNetworks } from '../testing/healthy.ts';
import { pathWarnings } from './node-paths.ts';

interface Row {
  readonly title: string;
  readonly interfaces: readonly InterfaceSpec[];
  readonly statuses?: readonly InterfaceStatus[];
  /** Default: Services 10.96.0.0/12, Pods 10.244.0.0/16. */
  readonly networks?: readonly ClusterNetwork[];
  /** Reasons with evidence. */
  readonly warnings: readonly (readonly [reason: string, evidence: string])[];
}

function nic(id: number, cidr: string, more: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return { id, macAddress: macOf(id), addresses: [cidr], ...more };
}

function macOf(id: number): string {
  return `fa:16:3e:00:00:0${id}`;
}

function failed(id: number, reason: string): InterfaceStatus {
  return { macAddress: macOf(id).toUpperCase(), status: 'Failed', reason };
}

/** Typed asymmetric matcher. */
const textWith = (text: string): string => expect.stringContaining(text) as string;

const isolated = { routing: 'isolated' } as const;
const main = { routing: 'main' } as const;
const shared = [nic(0, '10.7.0.4/24', isolated), nic(1, '10.7.0.5/24', isolated)];
const inServices = [nic(0, '10.96.0.9/24')];
const inPods = [nic(0, '10.244.7.9/24')];

const rows: readonly Row[] = [
  {
    title: 'two NICs of routing isolated in one subnet',
    interfaces: shared,
    warnings: [
      [
        'PathBypassed',
        'multinic0 and multinic1 share 10.7.0.0/24: all packets into it leave by one NIC; agents of this release report every other NIC as Failed',
      ],
    ],
  },
  {
    title: 'two subnets that NICs of routing main share, in the legacy form with address and cidr',
    interfaces: [
      { id: 0, macAddress: macOf(0), address: '10.7.0.4', cidr: '10.7.0.0/24', ...main },
      nic(1, '10.7.0.5/24', { addresses: ['10.7.0.5/24', 'fd00:7::5/64'], ...main }),
      nic(2, 'fd00:7:0:0::6/64', isolated),
    ],
    warnings: [
      [
        'PathBypassed',
        'multinic0 and multinic1 share 10.7.0.0/24, multinic1 and multinic2 share fd00:7::/64: all packets into it leave by one NIC; agents of this release report every other NIC as Failed',
      ],
    ],
  },
  {
    title: 'two NICs of routing main with one host route',
    interfaces: ['10.7.0.4/24', '10.8.0.4/24'].map((cidr, id) =>
      nic(id, cidr, { ...main, routes: [{ to: '10.9.0.0/16' }] }),
    ),
    warnings: [
      [
        'PathBypassed',
        'multinic0 and multinic1 share 10.9.0.0/16: all packets into it leave by one NIC; agents of this release report every other NIC as Failed',
      ],
    ],
  },
  {
    title: 'two NICs of the default routing pbr in one subnet',
    interfaces: [nic(0, '10.7.0.4/24'), nic(1, '10.7.0.5/24')],
    warnings: [],
  },
  {
    title: 'a NIC with two addresses in one subnet',
    interfaces: [nic(0, '10.7.0.4/24', { addresses: ['10.7.0.4/24', '10.7.0.5/24'], ...main })],
    warnings: [],
  },
  {
    title: 'a shared subnet whose second NIC is Failed with PathBypassed',
    interfaces: shared,
    statuses: [failed(1, 'PathBypassed')],
    warnings: [],
  },
  {
    title: 'a shared subnet whose second NIC is Failed with another reason',
    interfaces: shared,
    statuses: [failed(1, 'NICInUse')],
    warnings: [['PathBypassed', 'multinic0 and multinic1 share 10.7.0.0/24']],
  },
  {
    title: 'a subnet with the Service address of the API server',
    interfaces: inServices,
    warnings: [
      [
        'NodePathTaken',
        'multinic0 takes the path to the Service address 10.96.0.1 of the API server: 10.96.0.0/24 overlaps 10.96.0.0/12 (Services, from kubeadm-config)',
      ],
    ],
  },
  {
    title: 'a subnet in the Pod network, not in the Service network',
    interfaces: inPods,
    warnings: [
      [
        'SubnetOverlapsCluster',
        'multinic0: 10.244.7.0/24 overlaps 10.244.0.0/16 (Pods, from kubeadm-config); a NIC that is configured stays, a port that is attached again is refused',
      ],
    ],
  },
  {
    title: 'a host route of routing main into the Service network',
    interfaces: [nic(0, '10.7.0.4/24', { ...main, routes: [{ to: '10.96.0.0/16' }] })],
    warnings: [['NodePathTaken', 'multinic0 takes the path to the Service address 10.96.0.1']],
  },
  {
    title: 'a host route of routing pbr into the Service network',
    interfaces: [nic(0, '10.7.0.4/24', { routes: [{ to: '10.96.0.0/16' }] })],
    warnings: [],
  },
  {
    title: 'single Service addresses as networks',
    interfaces: [nic(0, '10.96.0.9/24')],
    networks: ['10.96.0.1/32', '10.96.8.3/32'].map((cidr) => ({
      cidr,
      use: 'Services',
      source: 'Services',
    })),
    warnings: [
      ['NodePathTaken', 'multinic0 takes the path to the Service address 10.96.0.1 of the API'],
    ],
  },
  {
    title: 'an overlap while the networks are unknown',
    interfaces: inServices,
    networks: [],
    warnings: [],
  },
  ...(['SubnetOverlapsCluster', 'NodePathTaken'] as const).map((reason) => ({
    title: `an overlap of a NIC that is Failed with ${reason}`,
    interfaces: inServices,
    statuses: [failed(0, reason)],
    warnings: [],
  })),
  {
    title: 'an entry that no agent can use',
    interfaces: [nic(0, 'nonsense', isolated), ...shared.slice(1)],
    warnings: [],
  },
  {
    title: 'three findings on one node',
    interfaces: [...shared, nic(2, '10.96.0.9/24'), nic(3, '10.244.7.9/24')],
    warnings: [
      ['PathBypassed', 'multinic0 and multinic1'],
      ['NodePathTaken', 'multinic2'],
      ['SubnetOverlapsCluster', 'multinic3'],
    ],
  },
];

describe.each(rows)('$title', ({ interfaces, statuses = [], networks, warnings }) => {
  it(`path warnings are ${warnings.map(([reason]) => reason).join(', ') || 'absent'}`, () => {
    const found = pathWarnings(
      {
        metadata: { name: 'worker-1' },
        spec: { nodeName: 'worker-1', interfaces: [...interfaces] },
        status: { interfaceStatuses: [...statuses] },
      },
      networks ?? clusterNetworks,
    );
    expect(found.map(({ reason, evidence }) => [reason, evidence.en])).toEqual(
      warnings.map(([reason, text]) => [reason, textWith(text)]),
    );
    expect(found.every(({ evidence, next }) => evidence.ko && next?.text.en && next.text.ko)).toBe(
      true,
    );
  });
});
