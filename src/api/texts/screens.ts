import type { Wording } from './text.ts';

/** Texts on the screens of the commands. */
export const screensTexts = {
  nothingWaits: {
    en: 'OpenstackConfig {config}: no removal waits for consent. Nothing was changed.',
    ko: 'OpenstackConfig {config}: 동의를 기다리는 NIC 제거가 없습니다. 변경한 것이 없습니다.',
  },
  noDifference: {
    en: 'no difference',
    ko: '차이 없음',
  },
  applyOnce: {
    en: '{next} to apply what differs once:',
    ko: '다음 조치: 차이를 한 번 적용하려면:',
  },
  wouldBeApplied: {
    en: '+ would be applied',
    ko: '+ 적용될 변경',
  },
  nodeCheckedAgo: {
    en: 'Node {nodeName} was checked {age} ago{job}',
    ko: '노드 {nodeName}를 {age} 전에 확인했습니다{job}',
  },
  andMore: {
    en: '  (and more)',
    ko: '  (더 있음)',
  },
  currentContext: {
    en: 'current context',
    ko: '현재 context',
  },
  checksSummary: {
    en: '{checks} in {time}: {errors}, {warnings}',
    ko: '검사 {checks}개, {time}초: 오류 {errors}개, 경고 {warnings}개',
  },
  staysWithoutEvidence: {
    en: 'stays: its removal has no evidence',
    ko: '유지됩니다: 제거할 증거가 없습니다',
  },
  basis: {
    en: 'basis',
    ko: '근거',
  },
  removalBudgets: {
    en: 'Removals within an hour that need no consent:',
    ko: '한 시간 동안 동의 없이 제거할 수 있는 한도:',
  },
  toConsent: {
    en: '{removals} for consent. To consent:',
    ko: 'NIC 제거 {removals}개가 동의를 기다립니다. 동의하려면:',
  },
  notValidated: {
    en: 'Not validated by Viola',
    ko: 'Viola가 검증하지 않았습니다',
  },
  dryRun: {
    en: 'Server-side dry run by Viola: {length} of {nodes} accepted.',
    ko: 'Viola의 서버 측 dry run: 노드 {nodes}개 중 {length}개를 받아들였습니다.',
  },
  networksUnknown: {
    en: 'Networks of Services and Pods are unknown in the business cluster: the plan compared no subnet with them. The agent compares on the node.',
    ko: '비즈니스 클러스터의 Service와 Pod 네트워크를 알 수 없어 NIC의 서브넷과 비교하지 않았습니다. 에이전트가 노드에서 비교합니다.',
  },
  planAccepted: {
    en: 'Both API servers accept the plan. Nothing was changed (--dry-run).',
    ko: '두 API 서버가 계획을 받아들입니다. 아무것도 변경하지 않았습니다(--dry-run).',
  },
  clusterRegistered: {
    en: 'Registered: the token can read MultiNicNodeConfigs in namespace {namespace}, and is valid until {expires}.\nNext: set credentials.k8sProviderID of an OpenstackConfig to {provider}.{note}',
    ko: '등록했습니다. 토큰은 네임스페이스 {namespace}의 MultiNicNodeConfig를 읽을 수 있으며 {expires}까지 유효합니다.\n다음 조치: OpenstackConfig의 credentials.k8sProviderID를 {provider}로 설정하십시오.{note}',
  },
  replicasReady: {
    en: '{readyReplicas} of {replicas} replicas ready',
    ko: '준비된 레플리카 {readyReplicas}/{replicas}',
  },
  noReplicaLeads: {
    en: 'no replica leads',
    ko: '리더 없음',
  },
  leader: {
    en: 'leader {leader}',
    ko: '리더 {leader}',
  },
  leaderSynced: {
    en: 'leader {leader}, last sync {age} ago',
    ko: '리더 {leader}, 마지막 동기화 {age} 전',
  },
  configSynced: {
    en: 'OpenstackConfig {config} was synced',
    ko: 'OpenstackConfig {config}가 동기화되었습니다',
  },
  nodeChecked: {
    en: 'Node {name} was checked',
    ko: '노드 {name}를 확인했습니다',
  },
  nodeAsPlanned: {
    en: '{head} and is as planned.',
    ko: '{head}. 계획과 같습니다.',
  },
  checkSkipped: {
    en: 'To check the skipped steps:',
    ko: '확인하지 못한 항목:',
  },
} as const satisfies Readonly<Record<string, Wording>>;
