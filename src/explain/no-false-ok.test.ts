import { expect, it } from 'vitest';
import { type Conclusion, unreadSources } from './conclusion.ts';
import { examine } from './examine.ts';
import { explainPort } from './explain-port.ts';
import { missingText } from './fact.ts';
import type { PortFacts, SystemFacts } from './facts.ts';
import type { Section } from './finding.ts';
import { configWith, portWith } from './testing/fault.ts';
import {
  cluster,
  config,
  hidden,
  nic,
  node,
  portFacts,
  read,
  serverId,
  systemFacts,
} from './testing/healthy.ts';

const ready = (status: 'True' | 'Unknown') => ({
  conditions: [{ type: 'Ready', status, reason: 'WaitingForTrigger', message: '' }],
});
const unknown = { state: 'Unknown', ready: 'Unknown', reason: 'StatusUnsupported' } as const;
const unreported = node(17, {
  ...unknown,
  nics: [nic(17, 0, { state: 'Unknown' }), nic(17, 1, { state: 'Unknown' })],
});
const late = node(18, { nics: [nic(18, 0), nic(18, 1, { state: 'InProgress' })] });

function reportOf(section: Section, facts: Partial<SystemFacts>) {
  const report = examine({ ...systemFacts, ...facts }).find((each) => each.section === section);
  if (!report) throw new Error(`no section ${section}`);
  const { summary, skipped } = report;
  return { ...report, summary: summary.en, skipped: skipped.map((each) => missingText(each).en) };
}

it('the nodes section counts configured NICs when an agent is still at work', () => {
  const { summary } = reportOf('nodes', { nodes: read([node(17), late]) });
  expect(summary).toBe('3 of 4 NICs on 2 nodes configured');
});

it('doctor skips NICs and boot files when a node has no status', () => {
  const facts = { nodes: read([unreported]), kubernetesNodes: new Map() };
  const reports = examine({ ...systemFacts, ...facts });
  const checks = new Map(reports.map(({ section, checks: count }) => [section, count]));
  expect([checks.get('nodes'), checks.get('bootFiles')]).toEqual([0, 0]);
  expect(reportOf('nodes', facts).skipped[0]).toBe('status of 1 node of biz-1: not reported');
  expect(reportOf('bootFiles', facts).skipped).toEqual([
    'boot files of 1 node: no agent has reported them',
  ]);
});

it('the openstack section claims valid credentials when the latest sync succeeded', () => {
  const configs = read([
    { ...config, status: ready('Unknown') },
    { ...config, status: ready('True') },
  ]);
  expect(reportOf('openstack', { configs }).summary).toBe('1 of 2 OpenstackConfigs synced');
});

const unreadClusters = {
  ...hidden('Business clusters'),
  required: { source: 'operator', place: 'multinic-operator-system' },
} as const;
const [operator] = systemFacts.parts.state === 'read' ? systemFacts.parts.value : [];
if (!operator) throw new Error('the facts have an operator');

const silent = { ...cluster, reachable: undefined, message: 'timeout' };

interface Row {
  readonly title: string;
  readonly facts: Partial<SystemFacts>;
  readonly section: Section;
  /** Undefined: nothing to examine. */
  readonly conclusion: Conclusion | undefined;
  readonly summary: string;
}

const none: Partial<SystemFacts> = {
  configs: read([]),
  clusters: read([]),
  nodes: read([]),
  kubernetesNodes: new Map(),
  nodeConfigs: new Map(),
  clusterNetworks: new Map(),
};
const hiddenNodes = { ...none, nodes: hidden('Nodes') };
const nothing = 'nothing to examine';
const notExamined = 'not examined';

const rows: readonly Row[] = [
  ...(['openstack', 'delivery', 'nodes', 'network', 'bootFiles'] as const).map((section) => ({
    title: `a fresh install, section ${section}`,
    facts: none,
    section,
    conclusion: undefined,
    summary: nothing,
  })),
  ...(['nodes', 'network', 'bootFiles'] as const).map((section) => ({
    title: `unread nodes, section ${section}`,
    facts: hiddenNodes,
    section,
    conclusion: 'incomplete' as const,
    summary: notExamined,
  })),
  {
    title: 'an OpenstackConfig before its first sync',
    facts: { configs: read([{ ...config, status: ready('Unknown') }]) },
    section: 'openstack',
    conclusion: undefined,
    summary: '0 of 1 OpenstackConfig synced',
  },
  {
    title: 'an operator API without an answer beside readable objects',
    facts: { clusters: unreadClusters },
    section: 'delivery',
    conclusion: 'incomplete',
    summary: 'no OpenstackConfig reports a failed delivery',
  },
  {
    title: 'a Viola without an answer',
    facts: { clusters: read([silent]) },
    section: 'delivery',
    conclusion: 'incomplete',
    summary: '3 nodes in 1 business cluster, 0 waiting',
  },
  {
    title: 'a legacy Viola without a list of business clusters',
    facts: { clusters: read([{ ...silent, isLegacy: true }]) },
    section: 'delivery',
    conclusion: 'good',
    summary: '3 nodes in 1 business cluster, 0 waiting',
  },
  {
    title: 'a Viola at 0 replicas',
    facts: { parts: read([{ ...operator, part: 'viola', replicas: 0, readyReplicas: 0 }]) },
    section: 'parts',
    conclusion: 'wrong',
    summary: 'viola, controller; 1 leader; same versions',
  },
  {
    title: 'parts without known versions',
    facts: { versions: read([]) },
    section: 'parts',
    conclusion: 'good',
    summary: 'operator, viola, controller; 1 leader; versions unknown',
  },
];

it.each(rows)('doctor concludes $conclusion for $title', ({ facts, section, ...expected }) => {
  const { conclusion, summary } = reportOf(section, facts);
  expect({ conclusion, summary }).toEqual({
    conclusion: expected.conclusion,
    summary: expected.summary,
  });
});

const waiting = { reason: 'ErrImagePull', image: 'multinic:0.2.0', message: 'not found' };

it.each([
  {
    title: 'a Pod that cannot pull its image',
    part: {
      ...operator,
      readyReplicas: 0,
      leader: undefined,
      problem: 'no minimum availability',
      notStarted: [{ pod: 'manager-1', ...waiting }],
    },
    reason: 'PartNotReady',
    evidence: 'Pod manager-1 does not start: ErrImagePull, image multinic:0.2.0: not found',
  },
  {
    title: 'no Deployment and no Lease',
    part: { ...operator, replicas: 0, leader: undefined, installed: 'None' as const },
    reason: 'NotInstalled',
    evidence: 'not installed',
  },
  {
    title: 'a Lease without a Deployment',
    part: { ...operator, replicas: 0, installed: 'Process' as const },
    reason: 'OutsideCluster',
    evidence: 'a process outside the management cluster',
  },
])('the parts section reports $reason for $title', ({ part, reason, evidence }) => {
  const { findings } = reportOf('parts', { parts: read([part]) });
  expect(findings.map((each) => each.reason)).toEqual([reason]);
  expect(findings[0]?.evidence.en).toContain(evidence);
});

const stopped: Partial<PortFacts> = {
  cluster: read({ ...cluster, reachable: undefined, message: 'Viola does not answer' }),
  node: hidden('Node biz-1/worker-18'),
};
const refused = { ready: 'False', reason: 'ViolaPostError', message: 'connect refused' } as const;

it('why answers with ViolaPostError from the OpenstackConfig when Viola is stopped', () => {
  const configs = [configWith(refused)];
  const facts = { ...portFacts, ...stopped, ...portWith({ configs }) };
  const { answer, headline, conclusion } = explainPort(facts);
  expect(answer).toMatchObject({ name: 'Delivery', reason: 'ViolaPostError' });
  expect(headline.en).toContain('The state of the NIC of port');
  expect(conclusion).toBe('wrong');
});

it.each([
  { title: 'Viola', facts: stopped, place: 'biz-1' },
  {
    title: 'Keystone',
    facts: portWith({ configs: [configWith({ ...refused, reason: 'KeystoneError' })] }),
    place: 'multinic-system/storage',
  },
  {
    title: 'management cluster',
    facts: {
      configs: {
        ...hidden('OpenstackConfigs'),
        required: { source: 'management cluster', place: 'prod' } as const,
      },
    },
    place: 'prod',
  },
])('why counts a silent $title as an unread source', ({ title, facts, place }) => {
  const { missing } = explainPort({ ...portFacts, ...facts });
  expect(unreadSources(missing)).toMatchObject([{ source: title, place }]);
});

const otherController = {
  ...hidden('Controller'),
  required: { source: 'business cluster', place: 'context biz' } as const,
};

it.each([
  {
    title: 'warns of a context without the Node',
    facts: { kubernetesNode: read(undefined) },
    expected: { result: 'warn', reason: 'NodeNotFound' },
    evidence: serverId,
  },
  {
    title: "skips the versions without the controller's answer",
    facts: { controllers: new Map([['biz-1', otherController]]) },
    expected: { result: 'skipped' },
    evidence: 'Controller: no access',
  },
])('the step Environment $title', ({ facts, expected, evidence }) => {
  const { steps } = explainPort({ ...portFacts, ...facts });
  const step = steps.find(({ name }) => name === 'Environment');
  expect(step).toMatchObject(expected);
  expect(step?.evidence.en).toContain(evidence);
});
