import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView, NicView, NodeView, PortView } from '../../api/read-http.ts';
import type { Fact } from '../fact.ts';
import type { KubernetesNode, Parts, PartVersion, PortFacts, SystemFacts } from '../facts.ts';
import { noAccess } from '../missing-texts.ts';
import { same } from '../wording.ts';

/** Facts from a healthy system: a cluster, three nodes with two NICs each. */
export const now = new Date('2026-11-26T05:25:00Z');
export const serverId = '91c2d7e0-0000-4000-8000-000000000018';
export const portId = 'be0f33c1-0000-4000-8000-000000000077';
const subnetId = '5a000000-0000-4000-8000-000000000040';

export function read<T>(value: T, source: 'operator' | 'business cluster' = 'operator'): Fact<T> {
  return { state: 'read', value, source, at: '2026-11-26T05:24:48Z' };
}

export function hidden(what: string): Extract<Fact<never>, { state: 'unread' }> {
  const next = same('add --business-context');
  return { state: 'unread', what: same(what), why: noAccess, next };
}

/** Networks behind multinic0 and multinic1. */
const networks = [
  {
    networkId: 'net-data',
    networkName: 'data',
    subnetId: '5a000000-0000-4000-8000-000000000020',
    subnetName: 'data-v4',
  },
  { networkId: 'net-tenant', networkName: 'tenant', subnetId, subnetName: 'tenant-v4' },
] as const;

export function nic(number: number, index: 0 | 1, more: Partial<NicView> = {}): NicView {
  const isPort = number === 18 && index === 1;
  return {
    name: `multinic${index}`,
    portId: isPort ? portId : `b0000000-0000-4000-8000-${number}00${index}`,
    macAddress: isPort ? 'fa:16:3e:00:00:77' : `fa:16:3e:00:0${index}:${number}`,
    addresses: [`10.${20 + 20 * index}.0.${number}/24`],
    mtu: 1450,
    ...networks[index],
    portStatus: 'ACTIVE',
    state: 'Configured',
    reason: '',
    message: '',
    carrier: true,
    checkedAt: '2026-11-26T01:25:00Z',
    ...more,
  };
}

export function node(number: number, more: Partial<NodeView> = {}): NodeView {
  return {
    providerId: 'biz-1',
    nodeName: `worker-${number}`,
    instanceId: number === 18 ? serverId : `90000000-0000-4000-8000-${number}`,
    config: 'multinic-system/storage',
    state: 'Configured',
    ready: 'True',
    reason: '',
    message: '',
    nics: [nic(number, 0), nic(number, 1)],
    unusedPorts: [],
    drifted: false,
    checkedAt: '2026-11-26T01:25:00Z',
    backend: 'netplan',
    agentVersion: '0.2.0',
    observedAt: '2026-11-26T05:24:48Z',
    object: {
      uid: 'uid-1',
      generation: 7,
      observedGeneration: 7,
      specHash: 'aa31a54b00',
      observedSpecHash: 'aa31a54b00',
      conditions: [{ type: 'Accepted', status: 'True', reason: 'Accepted' }],
      lastJobName: 'multinic-agent-worker-18-3c9a6ec7b6',
      attempt: 1,
      deleting: false,
    },
    ...more,
  };
}

export const port: PortView = {
  portId,
  macAddress: 'fa:16:3e:00:00:77',
  addresses: [{ subnetId, ip: '10.40.0.18' }],
  networkId: 'net-tenant',
  networkName: 'tenant',
  status: 'ACTIVE',
  adminStateUp: true,
  deviceId: serverId,
  deviceOwner: 'compute:nova',
  createdAt: '2026-11-21T08:12:44Z',
  serverName: 'worker-18',
  readAt: '2026-11-26T05:24:48Z',
  source: 'sync',
  configs: [
    {
      config: 'multinic-system/storage',
      selectsServer: true,
      selectsSubnet: true,
      trigger: 'immediate',
      ready: 'True',
      reason: 'NoChange',
      message: 'no changes detected',
      lastSyncAt: '2026-11-26T05:24:48Z',
    },
  ],
  verdict: { config: 'multinic-system/storage', nic: 'multinic1', at: '2026-11-26T05:24:48Z' },
  node: { providerId: 'biz-1', nodeName: 'worker-18' },
  delivery: { ok: true, at: '2026-11-26T05:24:48Z' },
};

export const cluster: ClusterView = {
  providerId: 'biz-1',
  reachable: true,
  message: 'Kubernetes v1.37.0',
  checkedAt: '2026-11-26T05:24:48Z',
  missingRights: [],
  hasNamespaceMap: false,
  nodes: 3,
  nics: { Pending: 0, InProgress: 0, Configured: 6, Failed: 0, Observed: 0 },
  drifted: 0,
  oldestCheck: '2026-11-26T01:25:00Z',
};

export const kubernetesNode: KubernetesNode = {
  name: 'worker-18',
  internalIps: ['192.168.0.18'],
  isReady: true,
  systemUuid: serverId,
};

const kubernetesNodes: readonly KubernetesNode[] = [17, 18, 19].map((number) => ({
  name: `worker-${number}`,
  internalIps: [`192.168.0.${number}`],
  isReady: true,
  systemUuid: node(number).instanceId,
}));

export const nodeConfig: MultiNicNodeConfig = {
  metadata: { namespace: 'multinic-system', name: 'worker-18' },
  spec: {
    nodeName: 'worker-18',
    interfaces: [20, 30].map((subnet, id) => ({
      id,
      macAddress: `fa:16:3e:00:${subnet}:18`,
      addresses: [`10.${subnet}.0.18/24`],
      routing: 'isolated',
    })),
  },
};

export const clusterNetworks: readonly ClusterNetwork[] = [
  { cidr: '10.96.0.0/12', use: 'Services', source: 'kubeadm-config' },
  { cidr: '10.244.0.0/16', use: 'Pods', source: 'kubeadm-config' },
];

const versions: readonly PartVersion[] = [
  { part: 'operator', providerId: undefined, version: '0.2.0' },
  { part: 'viola', providerId: undefined, version: '0.2.0' },
  { part: 'controller', providerId: 'biz-1', version: '0.2.0' },
];

export const config: OpenstackConfig = {
  metadata: {
    namespace: 'multinic-system',
    name: 'storage',
    creationTimestamp: '2026-11-20T01:00:00Z',
    generation: 1,
  },
  spec: {
    subnetIDs: ['5a000000-0000-4000-8000-000000000020', subnetId],
    vmNames: [serverId],
    credentials: { openstackProviderID: 'cloud-1', k8sProviderID: 'biz-1' },
  },
  status: {
    observedGeneration: 1,
    conditions: [
      { type: 'Ready', status: 'True', reason: 'NoChange', message: 'no changes detected' },
    ],
    lastSyncedAt: '2026-11-26T05:24:48Z',
    unusedPorts: [],
  },
};

/** Controller of the cluster. */
export const controller: Parts = {
  health: [
    {
      part: 'controller',
      providerId: 'biz-1',
      namespace: 'multinic-system',
      readyReplicas: 1,
      replicas: 1,
      leader: undefined,
      problem: undefined,
    },
  ],
  versions: versions.slice(2),
};

export const portFacts: PortFacts = {
  port: read(port),
  cluster: read(cluster),
  node: read(node(18)),
  kubernetesNode: read(kubernetesNode, 'business cluster'),
  job: read(undefined, 'business cluster'),
  neighbours: read([node(17), node(19)]),
  versions: read(versions),
  controllers: new Map([['biz-1', read(controller, 'business cluster')]]),
  configs: read([config]),
  now,
};

export const systemFacts: SystemFacts = {
  parts: read([
    {
      part: 'operator',
      providerId: undefined,
      readyReplicas: 1,
      replicas: 1,
      leader: 'multinic-operator-controller-manager-7f9c-x2k4p',
      problem: undefined,
    },
    {
      part: 'viola',
      providerId: undefined,
      readyReplicas: 2,
      replicas: 2,
      leader: undefined,
      problem: undefined,
    },
  ]),
  configs: read([config]),
  clusters: read([cluster]),
  nodes: read([node(17), node(18), node(19)]),
  versions: read(versions),
  controllers: new Map([['biz-1', read(controller, 'business cluster')]]),
  kubernetesNodes: new Map([['biz-1', read(kubernetesNodes, 'business cluster')]]),
  nodeConfigs: new Map([['biz-1', read([nodeConfig], 'business cluster')]]),
  clusterNetworks: new Map([['biz-1', read(clusterNetworks, 'business cluster')]]),
  now,
};
