import { expect, it } from 'vitest';
import type { Condition } from '../../api/condition.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { unreadSources } from '../conclusion.ts';
import { examine } from '../examine.ts';
import type { SystemFacts } from '../facts.ts';
import type { Section, Severity } from '../finding.ts';
import { cluster, config, nic, node, read, systemFacts } from '../testing/healthy.ts';

const hourAgo = '2026-11-26T04:25:00Z';
const minutesAgo = '2026-11-26T05:23:00Z';
const key = 'multinic-system/storage';
const worker = 'biz-1/worker-18';

function withNode(more: Partial<NodeView>, ofNic: Partial<NicView> = {}): Partial<SystemFacts> {
  const nics = [nic(18, 0), nic(18, 1, { state: 'Pending', ...ofNic })];
  return { nodes: read([node(17), node(18, { nics, ...more })]) };
}

/** Returns a node whose controller has not processed the latest change. */
function unprocessed(state: string, ofNic: Partial<NicView> = {}, reason = '') {
  return withNode({ state, ready: 'Unknown', reason, message: 'generation 9' }, ofNic);
}

/** Returns an OpenstackConfig with a condition since a time. */
function since(
  lastTransitionTime: string,
  more: Partial<Condition> = {},
  ready: Partial<Condition> = {},
): Partial<SystemFacts> {
  const conditions = [
    { type: 'Ready', status: 'True' as const, reason: 'NoChange', message: '', ...ready },
    {
      type: 'NICsReady',
      status: 'False' as const,
      reason: 'NICsNotConfigured',
      message: '5 of 6',
      lastTransitionTime,
      ...more,
    },
  ];
  return { configs: read([{ ...config, status: { ...config.status, conditions } }]) };
}

const unsent = withNode({});
const waiting = { status: 'Unknown', reason: 'WaitingForTrigger' } as const;

type Row = readonly [string, Partial<SystemFacts>, Section, Severity, string, string, string];

const rows: readonly Row[] = [
  ...(['InProgress', 'Pending', 'Failed'] as const).flatMap((state): Row[] => [
    [
      `a node in ${state} for an hour`,
      { ...unprocessed(state), ...since(hourAgo) },
      ...(['nodes', 'error', worker, 'SpecChanged', 'controller'] as const),
    ],
    [
      `a node in ${state} for two minutes`,
      { ...unprocessed(state), ...since(minutesAgo) },
      ...(['nodes', 'info', worker, 'SpecChanged', ''] as const),
    ],
  ]),
  [
    'a node that changed two minutes ago, in a rollout of an hour',
    { ...unprocessed('InProgress', { changedAt: minutesAgo }), ...since(hourAgo) },
    ...(['nodes', 'info', worker, 'SpecChanged', ''] as const),
  ],
  [
    'a node in a business cluster without connection',
    {
      ...unprocessed('InProgress'),
      ...since(hourAgo),
      clusters: read([{ ...cluster, reachable: false }]),
    },
    ...(['nodes', 'info', worker, 'SpecChanged', ''] as const),
  ],
  [
    'a node behind other nodes for an hour',
    { ...unprocessed('InProgress', {}, 'WaitingForTurn'), ...since(hourAgo) },
    ...(['nodes', 'warning', worker, 'WaitingForTurn', 'Wait'] as const),
  ],
  [
    'a Failed NIC on a node with Ready Unknown',
    { ...unprocessed('InProgress', { state: 'Failed', reason: 'NICInUse' }), ...since(minutesAgo) },
    ...(['nodes', 'error', worker, 'NICInUse', 'kubectl multinic why'] as const),
  ],
  [
    'a Failed NIC on a node with Ready True',
    withNode({}, { state: 'Failed', reason: 'NICInUse' }),
    ...(['nodes', 'error', worker, 'NICInUse', 'kubectl multinic why'] as const),
  ],
  [
    'a NIC that a ready node lacks for an hour',
    { ...unsent, ...since(hourAgo) },
    ...(['nodes', 'error', worker, 'Waiting', 'kubectl multinic sync'] as const),
  ],
  [
    'a NIC that an observed node lacks for an hour',
    { ...withNode({ state: 'Observed', ready: 'Unknown', reason: 'Observed' }), ...since(hourAgo) },
    ...(['nodes', 'error', worker, 'Waiting', 'kubectl multinic sync'] as const),
  ],
  [
    'an observed node with a controller of an earlier release',
    {
      ...withNode({ mode: 'Observe', state: 'Pending', ready: 'Unknown', reason: 'Paused' }),
      ...since(minutesAgo),
    },
    ...(['nodes', 'warning', worker, 'Observed', 'multinic-agent'] as const),
  ],
  [
    'a NIC that a ready node lacks for two minutes',
    { ...unsent, ...since(minutesAgo) },
    ...(['nodes', 'info', worker, 'Waiting', ''] as const),
  ],
  [
    'a NIC that a ready node lacks until the trigger',
    { ...unsent, ...since(hourAgo, {}, waiting) },
    ...(['nodes', 'info', worker, 'Waiting', ''] as const),
  ],
  ...(['NICsReady', 'Delivered'] as const).flatMap((type): Row[] => [
    [
      `${type} False for an hour, and no node with a finding`,
      since(hourAgo, { type }),
      ...(['openstack', 'error', key, 'NICsNotConfigured', 'MultiNicNodeConfig'] as const),
    ],
    [
      `${type} False for two minutes, and no node with a finding`,
      since(minutesAgo, { type }),
      ...(['openstack', 'info', key, 'NICsNotConfigured', ''] as const),
    ],
  ]),
];

/** Reasons for a row's further findings. */
const causes: ReadonlySet<string> = new Set(['WaitingForTrigger', 'ViolaPostError']);

it.each(rows)('doctor reports %s', (_, facts, section, severity, subject, reason, step) => {
  const findings = examine({ ...systemFacts, ...facts }).flatMap((each) => each.findings);
  const own = findings.filter((found) => !causes.has(found.reason));
  const short = own.map((one) => [one.section, one.severity, one.subject, one.reason]);
  expect(short).toEqual([[section, severity, subject, reason]]);
  const { text, commands = [] } = own[0]?.next ?? {};
  expect([text?.en, ...commands].join(' ')).toContain(step);
});

it.each([
  ['that answers now', true, [{ source: 'Viola', place: 'biz-1' }]],
  ['with an own report', false, []],
])('doctor names Viola once after an hour without nodes, %s', (_, reachable, expected) => {
  const configs = since(hourAgo, { status: 'Unknown', reason: 'NodesNotRead' });
  const clusters = read([{ ...cluster, reachable }]);
  const reports = examine({ ...systemFacts, ...configs, clusters });
  expect(unreadSources(reports.flatMap(({ skipped }) => skipped))).toMatchObject(expected);
});
