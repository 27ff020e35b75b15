import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import {
  at,
  cluster,
  complete,
  conditions,
  config,
  hostileName,
  link,
  node,
  operatorPart,
  same,
  viola,
} from './values.ts';

export const configRow: ScreenAnswer<'configs'>['configs'][number] = {
  namespace: 'multinic-system',
  name: 'storage',
  cloud: 'cloud-1',
  providerId: cluster,
  ready: 'True',
  reason: 'NoChange',
  text: same(hostileName),
  conditions,
  mode: 'Apply',
  deletionPolicy: 'Ask',
  isDeleting: false,
  trigger: 'immediate',
  servers: 118,
  nodes: 118,
  nics: '350/352',
  unusedPorts: 3,
  lastSyncAt: at,
  lastAttemptAt: at,
  nextSyncAt: '2026-12-01T05:24:24.000Z',
  removals: { lastHour: 3, allowed: 70, waiting: true, waitingSince: at, consentUntil: at },
};

export const cloudRow: ScreenAnswer<'configs'>['clouds'][number] = {
  key: 'cloud-1',
  access: 'direct',
  name: 'https://keystone.example.com:5000/v3',
  project: hostileName,
  state: 'failing',
  reason: 'CloudUnreachable',
  text: same(hostileName),
  configs: [config],
};

export const configAnswer: ScreenAnswer<'config'> = {
  ...complete,
  config: configRow,
  cloud: cloudRow,
  subnets: ['3f2a4f54-7f30-4d0f-9f6f-6f6f0f6e8f10'],
  servers: {
    names: ['worker-1', hostileName],
    count: 118,
    metadata: { role: 'worker' },
    tags: ['gpu'],
  },
  plan: {
    hash: '7c1f20d97c1f20d97c1f20d97c1f20d97c1f20d97c1f20d97c1f20d97c1f20d9',
    at,
    budgets: [{ scope: 'configNics', used: 3, total: 352, allowed: 70, freeAt: at }],
    problems: [{ reason: 'ServerNotFound', subject: hostileName, message: hostileName }],
    heldNics: [
      {
        nodeName: hostileName,
        name: 'multinic1',
        macAddress: 'fa:16:3e:00:00:01',
        code: 'OverBudget',
      },
    ],
    heldRemovals: 84,
    unconfirmed: 2,
  },
  attention: [{ nodeName: node, state: 'Failed', reason: 'NICInUse', text: same(hostileName) }],
  unusedPorts: [
    { portId: 'be0f33c1', address: '10.50.0.9', reason: 'PortTooOld', text: same(hostileName) },
  ],
};

export const operator: ScreenAnswer<'operator'> = {
  ...complete,
  operators: [
    {
      namespace: 'multinic-system',
      name: 'multinic',
      phase: 'Degraded',
      text: same(hostileName),
      conditions,
      controller: { readyReplicas: 1, desiredReplicas: 2 },
      database: { phase: 'Ready', readyReplicas: 1, version: '10.11.6' },
      operation: {
        kind: 'upgrade',
        request: hostileName,
        step: 'dump',
        startedAt: at,
        deadline: at,
      },
      lastBackup: { at, file: hostileName, bytes: 1_000, verified: true },
      lastRestore: { request: 'r', file: 'f', at, result: hostileName },
      backupSchedule: '0 2 * * *',
      protection: { active: true, preventedMutations: 3 },
      trigger: { mode: 'scheduled', schedule: '0 * * * *', timezone: 'Asia/Seoul' },
    },
  ],
  parts: [operatorPart, viola],
};

export const rollouts: ScreenAnswer<'rollouts'> = {
  ...complete,
  rollouts: [
    {
      key: 'r1',
      providerId: cluster,
      config,
      what: { en: 'mtu of subnet data-v4', ko: '서브넷 data-v4의 mtu' },
      step: 'wave',
      total: 40,
      done: 5,
      running: 1,
      failed: 1,
      waiting: 33,
      steps: [
        { name: 'canary', nodes: 1, done: 1 },
        { name: 'wave', nodes: 4, done: 3 },
        { name: 'rest', nodes: 35, done: 0 },
      ],
      message: same(hostileName),
      nodes: [
        { nodeName: hostileName, state: 'failed', text: same(hostileName), at },
        { nodeName: 'worker-2', state: 'running', text: same(''), at },
      ],
    },
  ],
  planned: [{ config, nodes: 40, what: same(hostileName), steps: [1, 4, 35] }],
};

export const history: ScreenAnswer<'history'> = {
  ...complete,
  items: [
    {
      at,
      providerId: cluster,
      nodeName: node,
      nic: 'multinic3',
      portId: 'be0f33c1',
      macAddress: 'fa:16:3e:00:00:aa',
      change: 'removed',
      basis: 'evidence',
      addresses: ['10.50.0.9/24'],
      fields: [],
      config,
      generation: 2,
    },
    {
      at,
      providerId: cluster,
      nodeName: 'worker-2',
      nic: hostileName,
      portId: 'be0f33c2',
      macAddress: 'fa:16:3e:00:00:bb',
      change: 'changed',
      addresses: [],
      config,
      generation: 3,
      fields: [{ name: 'mtu', before: '1450', after: '9000' }],
    },
  ],
  oldest: '2026-11-01T00:00:00.000Z',
  continue: 'p2',
};

export const search: ScreenAnswer<'search'> = {
  ...complete,
  hits: [
    {
      link,
      title: 'biz-1/worker-18/multinic2',
      field: 'address',
      value: '10.20.2.18',
      state: 'Failed',
      reason: 'NICInUse',
    },
    {
      link: { kind: 'node', providerId: cluster, nodeName: hostileName },
      title: hostileName,
      field: 'name',
      value: hostileName,
    },
  ],
  count: 2,
};
