import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { Wording } from '../../api/texts/text.ts';

/** A name with markup, a direction mark, a control character and 255 characters. */
export const hostileName = `<img src=x onerror=alert(1)>\u202E\u0007${'x'.repeat(225)}`;

export const at = '2026-12-01T05:22:24.000Z';
export const config = 'multinic-system/storage';
export const [cluster, node] = ['biz-1', 'worker-18'];

export function same(text: string): Wording {
  return { en: text, ko: text };
}

export const complete = { at, unread: [], skipped: [] };
export const incomplete = {
  at,
  unread: [
    {
      source: 'operator',
      place: hostileName,
      why: same('connection refused'),
      next: [same('start the operator')],
    },
  ],
  skipped: [
    {
      what: same('Nodes of biz-2'),
      why: same('no access'),
      next: same('add --business-context biz-2=CONTEXT'),
    },
  ],
};

export const nextStep = {
  text: {
    en: 'remove the foreign address from the link:',
    ko: '링크에서 다른 주소를 제거하십시오.',
  },
  commands: ['kubectl multinic why biz-1/worker-18/multinic2'],
  preview: ['kubectl multinic diff worker-18'],
};

export const link = { kind: 'nic', providerId: cluster, nodeName: node, nic: 'multinic2' } as const;

export const findings: ScreenAnswer<'fleet'>['findings'] = [
  {
    severity: 'error',
    section: 'nodes',
    reason: 'NICInUse',
    count: 1,
    nics: 1,
    findings: [
      {
        subject: 'biz-1/worker-18/multinic2',
        link,
        evidence: { en: 'foreign address on ens8', ko: 'ens8에 다른 주소가 있습니다' },
        next: nextStep,
      },
    ],
  },
  {
    severity: 'warning',
    section: 'delivery',
    reason: 'RemovalHeld',
    count: 84,
    nics: 84,
    findings: [
      {
        subject: hostileName,
        link: { kind: 'config', namespace: 'multinic-system', name: 'storage' },
        evidence: same(hostileName),
      },
    ],
    next: nextStep,
  },
];

export const viola = {
  part: 'viola',
  namespace: 'multinic-system',
  result: 'ok',
  readyReplicas: 2,
  replicas: 2,
  version: '0.9.0',
} as const;

export const operatorPart = {
  ...viola,
  part: 'operator',
  result: 'fail',
  readyReplicas: 0,
  leader: 'multinic-operator-7d9c',
  problem: { en: 'no replica leads', ko: '리더가 없습니다' },
} as const;

export const conditions: ScreenAnswer<'node'>['conditions'] = [
  {
    type: 'Ready',
    status: 'False',
    reason: 'NICInUse',
    text: same(hostileName),
    since: at,
    isOutdated: false,
  },
  { type: 'Drifted', status: 'False', reason: '', text: same(''), isOutdated: true },
];
