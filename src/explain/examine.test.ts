import { describe, expect, it } from 'vitest';
import { recordedFaults } from '../../test/fixtures/recorded-faults.ts';
import type { Condition } from '../api/condition.ts';
import type { OpenstackConfigStatus } from '../api/openstackconfig.ts';
import type { NodeView } from '../api/read-http.ts';
import { examine } from './examine.ts';
import { missingText } from './fact.ts';
import type { SystemFacts } from './facts.ts';
import type { Section, Severity } from './finding.ts';
import { sections } from './finding.ts';
import {
  cluster,
  config,
  controller,
  hidden,
  kubernetesNode,
  nic,
  node,
  read,
  systemFacts,
} from './testing/healthy.ts';

interface Row {
  readonly title: string;
  readonly facts: Partial<SystemFacts>;
  readonly section: Section;
  /** Default: `error`. */
  readonly severity?: Severity;
  readonly subject: string;
  readonly reason: string;
  readonly command?: string;
}

const key = 'multinic-system/storage';

function ready(
  status: Condition['status'],
  reason: string,
  message = '',
  more: OpenstackConfigStatus = {},
): Partial<SystemFacts> {
  const conditions = [{ type: 'Ready', status, reason, message }];
  return { configs: read([{ ...config, status: { ...config.status, conditions, ...more } }]) };
}

function unused(reason: string, message: string): Partial<SystemFacts> {
  const ports = [{ portId: 'p1', serverId: 's1', address: '10.50.0.9', reason, message }];
  return { configs: read([{ ...config, status: { ...config.status, unusedPorts: ports } }]) };
}

const ofTeamA = { ...config, metadata: { ...config.metadata, namespace: 'team-a' } };
const twoNamespaces: Partial<SystemFacts> = { configs: read([config, ofTeamA]) };

function nodes(...list: readonly NodeView[]): Partial<SystemFacts> {
  return { nodes: read(list) };
}

/** Returns node facts with a planted fault's recorded node as worker-18. */
function nodeOf(number: number): Partial<SystemFacts> {
  const fact = recordedFaults.find((fault) => fault.number === number)?.facts.node;
  if (fact?.state !== 'read' || !fact.value) throw new Error(`fault ${number} has no node`);
  const { nodeName, providerId, instanceId } = node(18);
  return nodes(node(17), { ...fact.value, nodeName, providerId, instanceId }, node(19));
}

const rows: readonly Row[] = [
  {
    title: '1 port made before the OpenstackConfig',
    facts: unused('PortTooOld', 'it was created at 2026-11-01'),
    section: 'openstack',
    severity: 'warning',
    subject: key,
    reason: 'PortTooOld',
    command: 'kubectl multinic why p1',
  },
  {
    title: '2 port in a subnet that is not selected',
    facts: nodes(
      node(18, { unusedPorts: [{ portId: 'p1', reason: 'SubnetNotSelected', message: '' }] }),
    ),
    section: 'openstack',
    severity: 'info',
    subject: key,
    reason: 'SubnetNotSelected',
  },
  ...['4 PortStatus', '5 FamilyNotWanted', '6 PortWithoutAddress', '7 PortNotPlugged'].map(
    (title): Row => {
      const reason = title.split(' ')[1] ?? '';
      const facts = unused(reason, 'values');
      return { title, facts, section: 'openstack', severity: 'warning', subject: key, reason };
    },
  ),
  {
    title: '7 eleventh port',
    facts: ready('False', 'InterfaceLimitExceeded', '11 ports', {
      unusedPorts: [{ portId: 'p1', reason: 'InterfaceLimitExceeded', message: '11 ports' }],
    }),
    section: 'openstack',
    subject: key,
    reason: 'InterfaceLimitExceeded',
  },
  {
    title: '8 OpenstackConfig paused',
    facts: ready('Unknown', 'Paused'),
    section: 'openstack',
    severity: 'warning',
    subject: key,
    reason: 'Paused',
    command: 'kubectl -n multinic-system annotate osc storage multinic.io/paused-',
  },
  {
    title: '9 OpenstackConfig that waits for its trigger',
    facts: ready('Unknown', 'WaitingForTrigger', 'next at 06:00'),
    section: 'openstack',
    severity: 'info',
    subject: key,
    reason: 'WaitingForTrigger',
  },
  {
    title: '10 key that does not fit the password',
    facts: ready('False', 'ContrabassError'),
    section: 'openstack',
    subject: key,
    reason: 'ContrabassError',
    command: `kubectl multinic sync ${key}`,
  },
  {
    title: '11 port list of Neutron cut off',
    facts: ready('False', 'NeutronPortError'),
    section: 'openstack',
    subject: key,
    reason: 'NeutronPortError',
  },
  {
    title: '12 business cluster that is not registered',
    facts: { ...ready('False', 'ViolaPostError'), clusters: read([]) },
    section: 'delivery',
    subject: 'biz-1',
    reason: 'ViolaPostError',
    command: 'kubectl multinic register-cluster biz-1 --business-kubeconfig biz-1.kubeconfig',
  },
  {
    title: '13 business cluster that does not answer',
    facts: {
      ...ready('False', 'ViolaPostError'),
      clusters: read([{ ...cluster, reachable: false, message: 'ECONNREFUSED' }]),
    },
    section: 'delivery',
    subject: 'biz-1',
    reason: 'ViolaPostError',
  },
  {
    title: 'Viola that refuses a node',
    facts: ready('False', 'ViolaPostError', 'worker-18: Forbidden'),
    section: 'delivery',
    subject: key,
    reason: 'ViolaPostError',
  },
  {
    title: 'removals that wait for approval',
    facts: ready('False', 'RemovalHeld', '84 NICs'),
    section: 'delivery',
    subject: key,
    reason: 'RemovalHeld',
    command: 'kubectl multinic allow-removals multinic-system/storage',
  },
  ...[
    [14, 'DuplicateSystemUUID'],
    [15, 'NodeNotFound'],
    [16, 'JobRefused'],
    [17, 'WaitingForNIC'],
    [18, 'NICInUse'],
  ].map(([number, reason]): Row => {
    const facts = nodeOf(Number(number));
    const subject = 'biz-1/worker-18';
    return { title: `${number} ${reason}`, facts, section: 'nodes', subject, reason: `${reason}` };
  }),
  {
    title: '19 rule and MTU changed by hand',
    facts: nodeOf(19),
    section: 'nodes',
    severity: 'warning',
    subject: 'biz-1/worker-18',
    reason: 'Drifted',
    command: 'kubectl multinic sync --node worker-18',
  },
  {
    title: 'context without the Node',
    facts: { kubernetesNodes: new Map([['biz-1', read([])]]), ...nodes(node(18)) },
    section: 'nodes',
    severity: 'warning',
    subject: 'biz-1/worker-18',
    reason: 'NodeNotFound',
  },
  {
    title: '20 InternalIP that belongs to a NIC',
    facts: {
      ...nodes(node(18)),
      kubernetesNodes: new Map([
        ['biz-1', read([{ ...kubernetesNode, internalIps: ['10.40.0.18'] }])],
      ]),
    },
    section: 'nodes',
    severity: 'warning',
    subject: 'biz-1/worker-18',
    reason: 'NodeAddressIsNic',
  },
  {
    title: 'port DOWN in Neutron with a carrier',
    facts: nodes(node(18, { nics: [nic(18, 0, { portStatus: 'DOWN', portId: 'p7' })] })),
    section: 'nodes',
    severity: 'warning',
    subject: 'biz-1/worker-18',
    reason: 'PortDownButUp',
    command: 'openstack port set --disable p7',
  },
  {
    title: 'node without status',
    facts: nodes(node(18, { state: 'Unknown', ready: 'Unknown', reason: '', message: '' })),
    section: 'nodes',
    severity: 'warning',
    subject: 'biz-1/worker-18',
    reason: 'NoNodeStatus',
  },
  {
    title: 'node without status since two minutes',
    facts: {
      ...nodes(node(18, { state: 'Unknown', ready: 'Unknown' })),
      ...ready('True', 'Synced', '', {
        conditions: [
          { type: 'Ready', status: 'True', reason: 'Synced' },
          { type: 'NICsReady', status: 'False', lastTransitionTime: '2026-11-26T05:23:00Z' },
        ],
      }),
    },
    section: 'nodes',
    severity: 'info',
    subject: 'biz-1/worker-18',
    reason: 'NoNodeStatus',
  },
  {
    title: 'NIC with another MTU',
    facts: nodes(node(17), node(18, { nics: [nic(18, 1, { mtu: 9000 })] }), node(19)),
    section: 'network',
    severity: 'warning',
    subject: 'tenant',
    reason: 'MtuDiffers',
    command: 'kubectl multinic diff worker-18',
  },
  {
    title: 'file of an earlier network manager',
    facts: nodes(node(18, { message: 'warnings: FilesLeft /etc/netplan/90-multinic0.yaml' })),
    section: 'bootFiles',
    severity: 'warning',
    subject: 'biz-1/worker-18',
    reason: 'FilesLeft',
  },
  {
    title: 'part without ready replica',
    facts: {
      parts: read([
        {
          part: 'viola',
          providerId: undefined,
          readyReplicas: 0,
          replicas: 2,
          leader: undefined,
          problem: 'CrashLoopBackOff',
          namespace: 'home',
          notStarted: [{ pod: 'viola-1', reason: 'CrashLoopBackOff' }],
        },
      ]),
    },
    section: 'parts',
    subject: 'viola',
    reason: 'PartNotReady',
    command: 'kubectl -n home describe pod viola-1',
  },
  {
    title: 'controller without replicas',
    facts: {
      controllers: new Map([
        [
          'biz-1',
          read({
            ...controller,
            health: controller.health.map((each) => ({ ...each, replicas: 0, readyReplicas: 0 })),
          }),
        ],
      ]),
    },
    section: 'parts',
    subject: 'biz-1/controller',
    reason: 'PartNotReady',
    command: 'kubectl -n multinic-system get pods',
  },
  {
    title: 'operator without leader',
    facts: {
      parts: read([
        {
          part: 'operator',
          providerId: undefined,
          readyReplicas: 1,
          replicas: 1,
          leader: undefined,
          problem: undefined,
        },
      ]),
    },
    section: 'parts',
    subject: 'operator',
    reason: 'PartNotReady',
  },
  {
    title: 'controller of an earlier version',
    facts: {
      versions: read([
        { part: 'operator', providerId: undefined, version: '0.2.0' },
        { part: 'controller', providerId: 'biz-1', version: '0.1.0' },
      ]),
    },
    section: 'parts',
    severity: 'warning',
    subject: 'biz-1',
    reason: 'VersionSkew',
  },
  {
    title: 'business cluster of two namespaces without NAMESPACE_CLUSTERS',
    facts: twoNamespaces,
    section: 'delivery',
    severity: 'warning',
    subject: 'biz-1',
    reason: 'ClusterShared',
  },
  {
    title: 'Viola without a right',
    facts: { clusters: read([{ ...cluster, missingRights: ['patch multinicnodeconfigs'] }]) },
    section: 'delivery',
    subject: 'biz-1',
    reason: 'RightsMissing',
  },
];

function findingsOf(facts: SystemFacts) {
  return examine(facts).flatMap(({ findings }) => findings);
}

describe.each(rows)('examination with $title', ({ facts, ...row }) => {
  const { section, severity = 'error', subject, reason, command } = row;

  it('the examination has only this finding', () => {
    const findings = findingsOf({ ...systemFacts, ...facts });
    const short = findings.map((one) => [one.section, one.severity, one.subject, one.reason]);
    expect(short).toEqual([[section, severity, subject, reason]]);
    const [finding] = findings;
    expect(finding?.evidence.en).not.toBe('');
    expect(finding?.evidence.ko).not.toBe('');
    if (severity !== 'info') expect(finding?.next?.text.en).not.toBe('');
    if (command) expect(finding?.next?.commands[0]).toBe(command);
  });
});

describe('examination without a fault', () => {
  it('the examination has no finding and no skipped check when nothing is wrong', () => {
    const reports = examine(systemFacts);
    expect(reports.map(({ section }) => section)).toEqual(sections);
    expect(reports.flatMap(({ findings, skipped }) => [...findings, ...skipped])).toEqual([]);
    expect(reports.every(({ summary, checks }) => summary.en !== '' && checks > 0)).toBe(true);
  });

  it.each(['parts', 'configs', 'clusters', 'nodes', 'versions'] as const)(
    'the examination skips checks and has no finding when the fact %s is hidden',
    (name) => {
      const reports = examine({ ...systemFacts, [name]: hidden(name) });
      expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
      const skipped = reports.flatMap((report) => report.skipped);
      expect(skipped.length).toBeGreaterThan(0);
      expect(skipped.every((each) => missingText(each).en === `${name}: no access`)).toBe(true);
    },
  );

  it('the examination skips the Node addresses when a business cluster has no access', () => {
    const reports = examine({ ...systemFacts, kubernetesNodes: new Map() });
    expect(reports.flatMap(({ skipped }) => skipped)).toEqual([
      {
        section: 'nodes',
        what: { en: 'Nodes of biz-1', ko: 'biz-1의 Node' },
        why: { en: 'no access', ko: '접근할 수 없습니다' },
        next: {
          en: 'add --business-context biz-1=CONTEXT',
          ko: '--business-context biz-1=CONTEXT 옵션을 추가하십시오',
        },
      },
    ]);
  });
});
