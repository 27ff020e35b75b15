import type { NicView, NodeView, PortView } from '../../api/read-http.ts';
import type { PortFacts } from '../facts.ts';
import type { StepName } from '../step.ts';
import type { PortConfigView } from '../subject.ts';
import {
  cluster,
  kubernetesNode,
  nic,
  node,
  port,
  portFacts,
  portId,
  read,
  serverId,
  subnetId,
} from './healthy.ts';

/** Fault in the facts, and the step with the fault's reason. */
export interface Fault {
  readonly title: string;
  readonly facts: Partial<PortFacts>;
  readonly step: StepName;
  /** Default: `fail`. */
  readonly result?: 'warn';
  readonly reason: string;
  /** Required values in the evidence. */
  readonly evidence: readonly string[];
  /** First command; empty: none exists. */
  readonly command: string;
  /** Facts required by the step. */
  readonly decides: readonly (keyof PortFacts)[];
}

function portWith(more: Partial<PortView>): Partial<PortFacts> {
  return { port: read({ ...port, ...more }) };
}

function configWith(more: Partial<PortConfigView>): PortConfigView {
  const [first] = port.configs;
  if (!first) throw new Error('the port has an OpenstackConfig');
  return { ...first, ...more };
}

/** The port without a NIC, with the last sync's reason. */
function refusedBy(reason: string, message: string, more: Partial<PortView> = {}) {
  const verdict = { config: 'multinic-system/storage', reason, message, at: port.readAt };
  return { ...portWith({ verdict, ...more }), node: read(node(18, { nics: [nic(18, 0)] })) };
}

function undecided(more: Partial<PortConfigView>): Partial<PortFacts> {
  const { verdict: _, ...rest } = port;
  const facts = { port: read({ ...rest, configs: [configWith(more)] }) };
  return { ...facts, node: read(node(18, { nics: [nic(18, 0)] })) };
}

function unsynced(more: Partial<PortConfigView>): Partial<PortFacts> {
  const [{ selectsServer: _s, selectsSubnet: _n, lastSyncAt: _l, ...rest } = configWith({})] =
    port.configs;
  const { verdict: _v, node: _node, delivery: _d, ...ofPort } = port;
  return { port: read({ ...ofPort, configs: [{ ...rest, ...more }] }), node: read(undefined) };
}

function nodeWith(more: Partial<NodeView>): Partial<PortFacts> {
  return { node: read(node(18, more)) };
}

function nicWith(more: Partial<NicView>, ofNode: Partial<NodeView> = {}): Partial<PortFacts> {
  return nodeWith({ ...ofNode, nics: [nic(18, 0), nic(18, 1, more)] });
}

function notReady(reason: string, message: string, state = 'Failed'): Partial<NodeView> {
  return { ready: 'False', state, reason, message };
}

const { delivery: _, ...withoutDelivery } = port;
const { object: _object, ...withoutObject } = node(18, { state: 'Unknown', ready: 'Unknown' });
const undelivered = { port: read(withoutDelivery), node: read(withoutObject) };

const patch = 'kubectl -n multinic-system patch osc storage --type';
const ready = '2026-11-26T05:20:00Z';

/** Planted faults from the chain suite, by number, as reported by the parts. */
export const faults: readonly Fault[] = [
  {
    title: '1 port made before the OpenstackConfig',
    facts: refusedBy('PortTooOld', 'it was created at 2026-11-01T08:12:44Z, before 2026-11-20', {
      createdAt: '2026-11-01T08:12:44Z',
    }),
    step: 'Filter',
    reason: 'PortTooOld',
    evidence: ['2026-11-01T08:12:44Z', 'CreatedAfterConfig'],
    command: `${patch} merge -p '{"spec":{"settings":{"portBaseline":"All"}}}'`,
    decides: ['port'],
  },
  {
    title: '2 port in a subnet that is not selected',
    facts: {
      ...refusedBy('SubnetNotSelected', 'none of its addresses is in a selected subnet', {
        addresses: [{ subnetId: 'subnet-b', ip: '10.60.0.18' }],
        configs: [configWith({ selectsSubnet: false })],
      }),
    },
    step: 'Selection',
    reason: 'SubnetNotSelected',
    evidence: ['subnet-b', subnetId],
    command: `${patch} json -p '[{"op":"add","path":"/spec/subnetIDs/-","value":"subnet-b"}]'`,
    decides: ['port'],
  },
  {
    title: '3 server that is not selected',
    facts: undecided({ selectsServer: false }),
    step: 'Selection',
    reason: 'ServerNotSelected',
    evidence: ['worker-18', serverId, 'multinic-system/storage'],
    command: `${patch} json -p '[{"op":"add","path":"/spec/vmNames/-","value":"${serverId}"}]'`,
    decides: ['port'],
  },
  {
    title: '4 port in status ERROR',
    facts: refusedBy('PortStatus', 'its status is ERROR; allowed are ACTIVE, DOWN', {
      status: 'ERROR',
    }),
    step: 'Filter',
    reason: 'PortStatus',
    evidence: ['ERROR', 'ACTIVE, DOWN'],
    command: `openstack port show ${portId}`,
    decides: ['port'],
  },
  {
    title: '5 IPv6 port without IPv6 in addressFamilies',
    facts: refusedBy('FamilyNotWanted', 'its address fd30::18 is not of the families IPv4'),
    step: 'Filter',
    reason: 'FamilyNotWanted',
    evidence: ['fd30::18', 'IPv4'],
    command: `${patch} merge -p '{"spec":{"settings":{"addressFamilies":["IPv4","IPv6"]}}}'`,
    decides: ['port'],
  },
  {
    title: '6 port without address',
    facts: refusedBy('PortWithoutAddress', 'it has no address', {
      addresses: [],
      configs: [configWith({ selectsSubnet: false })],
    }),
    step: 'Filter',
    reason: 'PortWithoutAddress',
    evidence: ['no address'],
    command: `openstack port set --fixed-ip subnet=5a000000-0000-4000-8000-000000000020 ${portId}`,
    decides: ['port'],
  },
  {
    title: '7 eleventh port',
    facts: refusedBy('InterfaceLimitExceeded', 'the server has 11 ports, 10 become NICs'),
    step: 'Filter',
    reason: 'InterfaceLimitExceeded',
    evidence: ['11 ports', 'multinic0 10.20.0.18/24'],
    command: `openstack server remove port ${serverId} ${portId}`,
    decides: ['port'],
  },
  {
    title: '8 OpenstackConfig paused',
    facts: undecided({ paused: 'true', ready: 'Unknown', reason: 'Paused', message: 'nothing' }),
    step: 'Selection',
    reason: 'Paused',
    evidence: ['multinic.io/paused', '"true"'],
    command: 'kubectl -n multinic-system annotate osc storage multinic.io/paused-',
    decides: ['port'],
  },
  {
    title: '9 port made between two scheduled syncs',
    facts: undecided({ trigger: 'scheduled', nextSyncAt: '2026-11-26T06:00:00Z' }),
    step: 'Selection',
    reason: 'NotSyncedYet',
    evidence: ['scheduled', '2026-11-26T05:24:48Z', '2026-11-26T06:00:00Z'],
    command: 'kubectl multinic sync multinic-system/storage',
    decides: ['port'],
  },
  {
    title: '10 key that does not fit the password',
    facts: undecided({
      ready: 'False',
      reason: 'ContrabassError',
      message: 'contrabass: the password of cloud-1 cannot be decrypted',
    }),
    step: 'Selection',
    reason: 'ContrabassError',
    evidence: ['cloud-1 cannot be decrypted'],
    command: 'kubectl multinic sync multinic-system/storage',
    decides: ['port'],
  },
  {
    title: '11 port list of Neutron cut off',
    facts: portWith({
      configs: [
        configWith({
          ready: 'False',
          reason: 'NeutronPortError',
          message: 'neutron GET /v2.0/ports: ended after 4096 bytes',
        }),
      ],
    }),
    step: 'Selection',
    result: 'warn',
    reason: 'NeutronPortError',
    evidence: ['GET /v2.0/ports', '4096 bytes'],
    command: '',
    decides: ['port'],
  },
  {
    title: '12 business cluster that is not registered',
    facts: { ...undelivered, cluster: read(undefined) },
    step: 'Delivery',
    reason: 'ViolaPostError',
    evidence: ['biz-1'],
    command: 'kubectl multinic register-cluster biz-1 --kubeconfig biz-1.kubeconfig',
    decides: ['cluster'],
  },
  {
    title: '13 business cluster that does not answer',
    facts: {
      cluster: read({
        ...cluster,
        reachable: false,
        message: 'https://10.0.0.5:6443: ECONNREFUSED',
        checkedAt: ready,
      }),
    },
    step: 'Delivery',
    reason: 'ViolaPostError',
    evidence: ['biz-1', 'https://10.0.0.5:6443', ready],
    command: '',
    decides: ['cluster'],
  },
  {
    title: '14 two Nodes with one systemUUID',
    facts: nicWith(
      { state: 'Pending', reason: 'DuplicateSystemUUID' },
      notReady('DuplicateSystemUUID', `Nodes worker-18 and clone report ${serverId}`),
    ),
    step: 'Acceptance',
    reason: 'DuplicateSystemUUID',
    evidence: ['worker-18 and clone', serverId],
    command:
      'kubectl get nodes -o custom-columns=NAME:.metadata.name,UUID:.status.nodeInfo.systemUUID',
    decides: ['node'],
  },
  {
    title: '15 no Node with the systemUUID',
    facts: nicWith(
      { state: 'Pending', reason: 'NodeNotFound' },
      notReady('NodeNotFound', `no Node has the systemUUID ${serverId}`, 'Pending'),
    ),
    step: 'Acceptance',
    reason: 'NodeNotFound',
    evidence: [serverId],
    command:
      'kubectl get nodes -o custom-columns=NAME:.metadata.name,UUID:.status.nodeInfo.systemUUID',
    decides: ['node'],
  },
  {
    title: '16 quota that refuses the Job',
    facts: nicWith(
      { state: 'Pending', reason: 'JobRefused', message: 'exceeded quota: pods' },
      notReady('JobRefused', 'exceeded quota: pods, requested 1, used 10, limited 10'),
    ),
    step: 'Agent',
    reason: 'JobRefused',
    evidence: ['exceeded quota: pods'],
    command: 'kubectl -n multinic-agents get resourcequota',
    decides: ['node'],
  },
  {
    title: '17 port that the hypervisor does not plug',
    facts: nicWith(
      {
        state: 'Pending',
        reason: 'WaitingForNIC',
        message: 'no link has the MAC fa:16:3e:00:00:77',
      },
      notReady('WaitingForNIC', '1 of 2 configured', 'Pending'),
    ),
    step: 'Kernel',
    reason: 'WaitingForNIC',
    evidence: ['fa:16:3e:00:00:77', 'ACTIVE', serverId],
    command: `openstack server remove port ${serverId} ${portId}`,
    decides: ['node'],
  },
  {
    title: '18 foreign address on the link',
    facts: nicWith(
      { state: 'Failed', reason: 'NICInUse', message: 'ens8 has the address 10.7.0.1/24' },
      notReady(
        'NICInUse',
        '1 of 2 configured; multinic1 NICInUse: ens8 has the address 10.7.0.1/24',
      ),
    ),
    step: 'Agent',
    reason: 'NICInUse',
    evidence: ['ens8', '10.7.0.1/24', 'multinic-agent-worker-18-3c9a6ec7b6'],
    command: 'ip addr del 10.7.0.1/24 dev ens8',
    decides: ['node'],
  },
  {
    title: '19 rule and MTU changed by hand',
    facts: nicWith(
      { reason: 'Drifted', message: 'an apply would: link set mtu 1450; rule add from 10.40.0.18' },
      { drifted: true },
    ),
    step: 'Kernel',
    result: 'warn',
    reason: 'Drifted',
    evidence: ['mtu 1450', 'rule add from 10.40.0.18'],
    command: 'kubectl multinic sync --node worker-18',
    decides: ['node'],
  },
  {
    title: '20 InternalIP that belongs to a NIC',
    facts: { kubernetesNode: read({ ...kubernetesNode, internalIps: ['10.40.0.18'] }) },
    step: 'Environment',
    result: 'warn',
    reason: 'NodeAddressIsNic',
    evidence: ['10.40.0.18', 'multinic1'],
    command: '',
    decides: ['kubernetesNode', 'node'],
  },
];

/** Further situations. */
export const further: readonly Fault[] = [
  {
    title: 'port that no account sees',
    facts: { port: read(undefined) },
    step: 'Neutron',
    reason: 'PortNotFound',
    evidence: [],
    command: '',
    decides: ['port'],
  },
  {
    title: 'port without server',
    facts: portWith({ deviceId: '', deviceOwner: '' }),
    step: 'Neutron',
    reason: 'PortNotAttached',
    evidence: ['ACTIVE'],
    command: '',
    decides: ['port'],
  },
  {
    title: 'two servers that claim one node',
    facts: refusedBy('NameConflict', 'node worker-18 is also claimed by server 77aa'),
    step: 'Assignment',
    reason: 'NameConflict',
    evidence: ['77aa'],
    command: '',
    decides: ['port'],
  },
  {
    title: 'verdict older than the selection',
    facts: refusedBy('SubnetNotSelected', 'none of its addresses is in a selected subnet'),
    step: 'Selection',
    reason: 'NotSyncedYet',
    evidence: ['multinic-system/storage'],
    command: 'kubectl multinic sync multinic-system/storage',
    decides: ['port'],
  },
  {
    title: 'OpenstackConfig that was never synced, with a wrong key',
    facts: unsynced({ ready: 'False', reason: 'ContrabassError', message: 'cloud-1: 401' }),
    step: 'Selection',
    reason: 'ContrabassError',
    evidence: ['cloud-1: 401'],
    command: 'kubectl multinic sync multinic-system/storage',
    decides: ['port'],
  },
  {
    title: 'OpenstackConfig edited in mode manual',
    facts: undecided({
      selectsSubnet: false,
      trigger: 'manual',
      ready: 'Unknown',
      reason: 'WaitingForTrigger',
      message: 'set multinic.io/reconcile-at',
    }),
    step: 'Selection',
    reason: 'NotSyncedYet',
    evidence: ['manual'],
    command: 'kubectl multinic sync multinic-system/storage',
    decides: ['port'],
  },
  {
    title: 'OpenstackConfig that is being deleted',
    facts: portWith({
      configs: [configWith({ ready: 'False', reason: 'Deleting', message: 'x' })],
    }),
    step: 'Selection',
    result: 'warn',
    reason: 'Deleting',
    evidence: ['multinic-system/storage'],
    command: '',
    decides: ['port'],
  },
  {
    title: 'controller that does not run',
    facts: nodeWith({ state: 'Unknown', ready: 'Unknown', reason: '', message: '' }),
    step: 'Acceptance',
    reason: 'NoNodeStatus',
    evidence: ['biz-1/worker-18'],
    command: '',
    decides: ['node'],
  },
  {
    title: 'entry that the controller refuses',
    facts: nicWith(
      { state: 'Failed', reason: 'InvalidEntry', message: 'cidr: 10.40.0.0/33 is no network' },
      notReady('InvalidEntries', 'interfaces[1].cidr'),
    ),
    step: 'Acceptance',
    reason: 'InvalidEntry',
    evidence: ['10.40.0.0/33'],
    command: '',
    decides: ['node'],
  },
  {
    title: 'agent image that cannot be pulled',
    facts: {
      ...nicWith(
        { state: 'InProgress', reason: 'SpecChanged', message: 'the agent is at work' },
        { state: 'InProgress', ready: 'Unknown', reason: 'SpecChanged' },
      ),
      job: read({
        name: 'multinic-agent-worker-18-1',
        attempt: 2,
        reason: 'ImagePullBackOff',
        message: 'registry.example/agent:0.2.0',
      }),
    },
    step: 'Agent',
    reason: 'ImagePullFailed',
    evidence: ['multinic-agent-worker-18-1 (attempt 2)', 'registry.example/agent:0.2.0'],
    command: '',
    decides: ['job', 'node'],
  },
  {
    title: 'profile that a boot does not restore',
    facts: nodeWith({
      message:
        'All 2 interfaces configured successfully; warnings: NotPersistent multinic1, eth7 by /etc/udev/rules.d/70-x.rules, SettingsKept multinic0 ipv4.rp_filter=0',
    }),
    step: 'BootFiles',
    result: 'warn',
    reason: 'NotPersistent',
    evidence: ['eth7 by /etc/udev/rules.d/70-x.rules'],
    command: '',
    decides: ['node'],
  },
  {
    title: 'port that Neutron reports DOWN although its link is up',
    facts: portWith({ status: 'DOWN' }),
    step: 'Environment',
    result: 'warn',
    reason: 'PortDownButUp',
    evidence: [portId],
    command: `openstack port set --disable ${portId}`,
    decides: ['port', 'node'],
  },
  {
    title: 'port that is administratively down',
    facts: { ...portWith({ status: 'DOWN', adminStateUp: false }), ...nicWith({ carrier: false }) },
    step: 'Environment',
    result: 'warn',
    reason: 'PortAdminDown',
    evidence: ['admin_state_up', portId],
    command: `openstack port set --enable ${portId}`,
    decides: ['port'],
  },
  {
    title: 'NIC with another MTU than its network',
    facts: nicWith({ mtu: 9000 }),
    step: 'Environment',
    result: 'warn',
    reason: 'MtuDiffers',
    evidence: ['tenant', '1450', '9000'],
    command: 'kubectl multinic diff worker-18',
    decides: ['neighbours', 'node'],
  },
  {
    title: 'controller of an earlier version',
    facts: {
      versions: read([
        { part: 'operator', providerId: undefined, version: '0.2.0' },
        { part: 'controller', providerId: 'biz-1', version: '0.1.0' },
      ]),
    },
    step: 'Environment',
    result: 'warn',
    reason: 'VersionSkew',
    evidence: ['0.1.0', '0.2.0'],
    command: '',
    decides: ['versions'],
  },
];

/** Returns a fault's facts, based on a healthy system. */
export function factsOf({ facts }: Fault): PortFacts {
  return { ...portFacts, ...facts };
}
