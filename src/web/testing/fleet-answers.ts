import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import {
  at,
  cluster,
  complete,
  config,
  findings,
  hostileName,
  incomplete,
  node,
  operatorPart,
  same,
  viola,
} from './values.ts';

const noNics = {
  Pending: 0,
  InProgress: 0,
  Configured: 0,
  Failed: 0,
  Observed: 0,
};

export const fleet: ScreenAnswer<'fleet'> = {
  ...incomplete,
  counts: { errors: 1, warnings: 84 },
  findings,
  clusters: [
    {
      providerId: cluster,
      reachable: true,
      message: '',
      nodes: 118,
      nics: { ...noNics, Configured: 350, InProgress: 1, Failed: 1 },
      drifted: 1,
      oldestCheck: at,
      controller: { ...viola, part: 'controller' },
    },
    {
      providerId: hostileName,
      reachable: false,
      message: hostileName,
      nodes: 40,
      nics: { ...noNics, Configured: 80 },
      drifted: 0,
    },
  ],
  clusterCount: 2,
  parts: [operatorPart, viola],
  inventory: { version: '0.9.0', milliseconds: 12 },
  configs: { all: 2, ready: 1, paused: 1 },
  lastSyncAt: at,
  connections: [
    { source: 'management cluster', place: 'context mgmt', phase: 'open', since: at },
    {
      source: 'business cluster',
      providerId: cluster,
      place: hostileName,
      phase: 'lost',
      since: at,
      why: { en: 'kubectl ended with 1', ko: 'kubectl이 1로 끝났습니다' },
      next: same('kubectl --context biz-1 get nodes'),
    },
  ],
};

export const doctor: ScreenAnswer<'doctor'> = {
  ...complete,
  counts: { errors: 1, warnings: 84 },
  sections: [
    {
      section: 'parts',
      conclusion: 'good',
      checks: 4,
      summary: same('All parts run.'),
      findings: [],
    },
    { section: 'nodes', conclusion: 'wrong', checks: 12, summary: same(''), findings },
    {
      section: 'network',
      checks: 0,
      summary: { en: 'Not examined.', ko: '확인하지 않았습니다.' },
      findings: [],
    },
  ],
  seconds: 1.4,
  bundle: {
    text: same('write a support bundle:'),
    commands: ['kubectl multinic support-bundle'],
    preview: [],
  },
};

export const row: ScreenAnswer<'nodes'>['items'][number] = {
  providerId: cluster,
  nodeName: node,
  instanceId: '5b1f5e5c-3a0e-4f2d-9d0e-2c4b6a7f8e90',
  config,
  state: 'Failed',
  ready: 'False',
  drifted: false,
  reason: 'NICInUse',
  since: at,
  nics: { configured: 2, all: 3 },
  unusedPorts: 1,
  networks: ['data', hostileName],
  backend: 'netplan',
  agentVersion: '0.9.0',
  checkedAt: at,
};

/** Rows of a full page. */
const rows = Array.from({ length: 250 }, (_, number) => {
  const isBad = number % 50 === 18;
  const good = { state: 'Configured', ready: 'True', reason: '', unusedPorts: 0 } as const;
  const name = number === 1 ? hostileName : `worker-${number}`;
  return { ...row, nodeName: name, ...(isBad ? {} : good), drifted: number === 17 };
});

export const nodes: ScreenAnswer<'nodes'> = {
  ...complete,
  items: rows,
  total: 5_000,
  all: 5_000,
  continue: 'page-2',
  facets: {
    cluster: [{ value: cluster, count: 5_000 }],
    config: [{ value: config, count: 5_000 }],
    state: [
      { value: 'Configured', count: 4_900 },
      { value: 'Failed', count: 100 },
    ],
    reason: [{ value: 'NICInUse', count: 100 }],
    network: [
      { value: 'data', count: 5_000 },
      { value: hostileName, count: 4 },
    ],
    backend: [{ value: 'netplan', count: 5_000 }],
  },
};
