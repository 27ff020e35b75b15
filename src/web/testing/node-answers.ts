import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { row } from './fleet-answers.ts';
import {
  at,
  cluster,
  complete,
  conditions,
  config,
  findings,
  hostileName,
  nextStep,
  node,
  same,
} from './values.ts';

type Nic = ScreenAnswer<'node'>['nics'][number];

function nic(number: number, more: Partial<Nic>): Nic {
  const name = `multinic${number}`;
  return {
    kind: 'nic',
    key: name,
    nic: name,
    portId: `be0f33c1-0000-4000-8000-00000000000${number}`,
    network: 'data',
    macAddress: `fa:16:3e:00:00:0${number}`,
    addresses: [`10.20.${number}.18/24`],
    state: 'Configured',
    reason: 'Configured',
    text: same(''),
    portStatus: 'ACTIVE',
    isDrifted: false,
    checkedAt: at,
    ...more,
  };
}

/** A port without NIC. */
function portRow(number: number, more: Partial<Nic>): Nic {
  const { nic: _, ...rest } = nic(number, {});
  return { ...rest, kind: 'unusedPort', key: `port-${number}`, state: 'Unused', ...more };
}

const nics: readonly Nic[] = [
  nic(0, {}),
  nic(1, { network: 'storage', portStatus: 'DOWN', isDrifted: true }),
  nic(2, {
    network: 'tenant',
    state: 'Failed',
    reason: 'NICInUse',
    text: { en: hostileName, ko: hostileName },
  }),
  portRow(3, { network: 'backup', reason: 'PortTooOld' }),
  portRow(4, { kind: 'primary', addresses: ['10.66.0.18'], reason: '' }),
];

const nodeView: ScreenAnswer<'node'>['node'] = {
  providerId: cluster,
  nodeName: node,
  instanceId: row.instanceId,
  config,
  state: 'Failed',
  ready: 'False',
  reason: 'NICInUse',
  message: hostileName,
  since: at,
  nics: [],
  unusedPorts: [],
  drifted: false,
  checkedAt: at,
  backend: 'netplan',
  agentVersion: '0.9.0',
  observedAt: at,
};

export const nodeAnswer: ScreenAnswer<'node'> = {
  ...complete,
  node: nodeView,
  isFresh: false,
  isPortsRead: false,
  networks: [
    { key: 'data', name: 'data-v4', isDown: false },
    { key: 'storage', name: hostileName, isDown: true },
    { key: 'tenant', name: 'tenant', isDown: false },
    { key: 'backup', name: 'backup', isDown: false },
  ],
  nics,
  kubernetesNode: {
    name: node,
    isReady: true,
    internalIps: [{ ip: '10.66.0.18', key: 'port-4' }],
  },
  conditions,
  findings,
  job: {
    name: 'multinic-agent-worker-18-3c9a6ec7b6',
    attempt: 2,
    reason: 'NICInUse',
    message: hostileName,
  },
};

const stepNames = [
  ...(['Neutron', 'Selection', 'Filter', 'Assignment', 'Delivery', 'Acceptance'] as const),
  ...(['Agent', 'Kernel', 'BootFiles', 'Environment'] as const),
];

export const nicAnswer: ScreenAnswer<'nic'> = {
  ...complete,
  providerId: cluster,
  nodeName: node,
  config,
  portId: 'be0f33c1-0000-4000-8000-000000000002',
  row: nics[2],
  why: {
    headline: {
      en: 'Port be0f33c1 is not configured: NICInUse',
      ko: '포트 be0f33c1은 설정되지 않았습니다: NICInUse',
    },
    conclusion: 'wrong',
    answer: 'Agent',
    steps: stepNames.map((name, position) => {
      if (position < 6) return { name, result: 'ok', evidence: same(`${name} of ${hostileName}`) };
      if (position > 6) return { name, result: 'notReached', evidence: same('') };
      const evidence = { en: 'foreign address on ens8', ko: 'ens8에 다른 주소가 있습니다' };
      return { name, result: 'fail', reason: 'NICInUse', evidence, next: nextStep };
    }),
  },
  state: {
    desired: [
      { field: 'name', value: 'multinic2' },
      { field: 'addresses', value: '10.20.2.18/24' },
      { field: 'mtu', value: '1450' },
    ],
    kernel: {
      isSame: false,
      changes: ['rename ens8 to multinic2'],
      found: [same(hostileName)],
      carrier: true,
      checkedAt: at,
    },
    bootFiles: { changes: [], found: [], backend: 'netplan', warnings: [hostileName] },
    isComplete: false,
  },
  timeline: [
    {
      at,
      kind: 'job',
      reason: 'NICInUse',
      text: same('Agent Job multinic-agent-worker-18 failed'),
    },
    { at: '2026-12-01T05:22:22.000Z', kind: 'portCreated', text: same(hostileName) },
  ],
  timelineSince: '2026-11-01T00:00:00.000Z',
};
