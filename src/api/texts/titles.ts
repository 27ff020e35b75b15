import type { BudgetScope, HoldCode } from '../removals.ts';
import type { Wording } from './text.ts';

/** Titles of the steps in `multinic why`. */
export const stepTitles = {
  Neutron: { en: 'Neutron', ko: 'Neutron' },
  Selection: { en: 'Selection', ko: '선택' },
  Filter: { en: 'Filter', ko: '필터' },
  Assignment: { en: 'Assignment', ko: '할당' },
  Delivery: { en: 'Delivery', ko: '전달' },
  Acceptance: { en: 'Acceptance', ko: '검증' },
  Agent: { en: 'Agent', ko: '에이전트' },
  Kernel: { en: 'Kernel', ko: '커널' },
  BootFiles: { en: 'Boot files', ko: '부팅 파일' },
  Environment: { en: 'Environment', ko: '주변 환경' },
} as const satisfies Readonly<Record<string, Wording>>;

/** Titles of the sections in `multinic doctor`. */
export const sectionTitles = {
  parts: { en: 'parts', ko: '구성 요소' },
  openstack: { en: 'openstack', ko: 'openstack' },
  delivery: { en: 'delivery', ko: '전달' },
  nodes: { en: 'nodes', ko: '노드' },
  network: { en: 'network', ko: '네트워크' },
  bootFiles: { en: 'boot files', ko: '부팅 파일' },
  api: { en: 'api', ko: 'API' },
  rights: { en: 'rights', ko: '권한' },
  definitions: { en: 'crds', ko: 'CRD' },
  machines: { en: 'nodes', ko: '노드' },
  clusterNetworks: { en: 'networks', ko: '네트워크' },
  cloud: { en: 'openstack', ko: 'openstack' },
} as const satisfies Readonly<Record<string, Wording>>;

/** Titles of the codes of held removals. */
export const holdTitles: Readonly<Record<HoldCode, Wording>> = {
  OverBudget: { en: 'waits: above the budget', ko: '대기: 한도 초과' },
  NotCounted: {
    en: 'waits: removals of the hour unknown',
    ko: '대기: 한 시간의 제거를 알 수 없음',
  },
  SideEffect: { en: 'waits: side effect of another change', ko: '대기: 다른 변경의 부수 효과' },
  NotKnownYet: { en: 'waits: no agent has read the node', ko: '대기: 에이전트가 노드를 읽지 않음' },
};

/** Titles of the budgets of removals. */
export const budgetTitles: Readonly<Record<BudgetScope, Wording>> = {
  clusterNodes: { en: 'nodes of the business cluster', ko: '비즈니스 클러스터의 노드' },
  clusterNics: { en: 'NICs of the business cluster', ko: '비즈니스 클러스터의 NIC' },
  configNics: { en: 'NICs of this OpenstackConfig', ko: '이 OpenstackConfig의 NIC' },
};

/** Words on all screens. */
export const words = {
  next: { en: 'Next:', ko: '다음 조치:' },
  preview: { en: 'Preview it first:', ko: '먼저 미리 보기:' },
  afterwards: { en: ', then ', ko: ', 그다음 ' },
  ok: { en: 'ok', ko: '정상' },
  warn: { en: 'warn', ko: '주의' },
  fail: { en: 'FAIL', ko: '실패' },
  skip: { en: 'skip', ko: '건너뜀' },
  info: { en: 'info', ko: '정보' },
} as const satisfies Readonly<Record<string, Wording>>;
