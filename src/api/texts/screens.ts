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
    en: 'Server-side dry run by Viola: {accepted} of {nodes} accepted.',
    ko: 'Viola의 서버 측 dry run: 노드 {nodes}개 중 {accepted}개를 받아들였습니다.',
  },
  noDryRunOfDeletions: {
    en: 'Viola has no dry run for the deletion of {nodes}.',
    ko: '노드 {nodes}개의 삭제에는 Viola의 dry run이 없습니다.',
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
  syncFailed: {
    en: 'OpenstackConfig {config} was not synced completely',
    ko: 'OpenstackConfig {config}의 동기화가 완료되지 않았습니다',
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
  removalsWait: {
    en: 'OpenstackConfig {config}: {removals} for consent',
    ko: 'OpenstackConfig {config}: NIC 제거{removals} 동의를 기다립니다',
  },
  removalsOfUnknownNumber: {
    en: 'removals wait',
    ko: '가',
  },
  someRemovals: {
    en: '{removals}',
    ko: ' {removals}개가',
  },
  typeToConsent: {
    en: 'To consent to the removal, type {answer}:',
    ko: '제거에 동의하려면 {answer} 입력하십시오:',
  },
  typeYes: {
    en: 'yes',
    ko: 'yes를',
  },
  typeNumber: {
    en: 'the number of NICs ({nics})',
    ko: 'NIC 수({nics})를',
  },
  consentGiven: {
    en: 'Consent given for OpenstackConfig {config}: it covers {nics}, for an hour (until {until}).',
    ko: 'OpenstackConfig {config}의 NIC 제거{nics}에 동의했습니다. 동의는 지금 대기 중인 NIC에만, 한 시간 동안({until}까지) 유효합니다.',
  },
  waitingNics: {
    en: 'exactly the NICs that wait now',
    ko: '',
  },
  thisNic: {
    en: 'exactly this NIC',
    ko: ' 1개',
  },
  theseNics: {
    en: 'exactly these {nics} NICs',
    ko: ' {nics}개',
  },
  managementCluster: {
    en: 'Management cluster:',
    ko: '관리 클러스터:',
  },
  businessClusters: {
    en: 'Business clusters: ',
    ko: '비즈니스 클러스터:',
  },
  directAccess: {
    en: 'direct access',
    ko: '직접 조회',
  },
  throughViola: {
    en: 'through Viola only',
    ko: 'Viola로만 조회',
  },
  budgetUse: {
    en: '{used} used of {allowed} allowed ({total} in total){free}',
    ko: '허용 {allowed}개 중 {used}개 사용(전체 {total}개){free}',
  },
  freeFrom: {
    en: ', free again from {at}',
    ko: ', {at}부터 다시 비워짐',
  },
  incomplete: {
    en: 'incomplete: {source} ({place}): {why}',
    ko: '확인 불완전: {source}({place}): {why}',
  },
  wrong: {
    en: '{errors}, {warnings}; first: {subject}: {reason}: {evidence}',
    ko: '오류 {errors}개, 경고 {warnings}개, 첫 번째: {subject}: {reason}: {evidence}',
  },
  moreFindings: {
    en: 'and {count} more of {all} with reason {reason}; list all with: {command}',
    ko: '이유 {reason}인 {all}개 중 {count}개가 더 있습니다. 전체 목록: {command}',
  },
  sourceUnread: {
    en: 'not read from {source} ({place}): {why}',
    ko: '{source}({place})에서 조회하지 못했습니다: {why}',
  },
  lacks: {
    en: 'not read: {list}',
    ko: '조회하지 못함: {list}',
  },
  notRead: {
    en: 'not read',
    ko: '조회하지 못했습니다',
  },
  versionUnknown: {
    en: 'version unknown',
    ko: '버전을 알 수 없음',
  },
  stepsNotExamined: {
    en: 'not examined',
    ko: '확인하지 못함',
  },
  findings: {
    en: '{findings}: {errors}, {warnings}',
    ko: '점검 결과 {findings}개: 오류 {errors}개, 경고 {warnings}개',
  },
  mayRegister: {
    en: 'Register the cluster?',
    ko: '클러스터를 등록할까요?',
  },
  clusterUnidentified: {
    en: 'Note: your user may not create Roles in namespace {namespace}, so Viola cannot read the uid of the cluster and does not notice a second registration of this cluster. To grant the right later, run the command as an administrator.',
    ko: '참고: 이 사용자는 네임스페이스 {namespace}에 Role을 만들 수 없어 Viola가 클러스터의 uid를 읽지 못하며, 같은 클러스터가 다시 등록되어도 알 수 없습니다. 나중에 권한을 주려면 관리자 계정으로 명령을 다시 실행하십시오.',
  },
  registrationPlan: {
    en: `Registers the business cluster {business} as provider {provider}.

In {business}, namespace {namespace}:
  ServiceAccount {account}
  Role {account}: get, list, create, patch, delete of multinicnodeconfigs; create of its own token; get of ConfigMap multinic-cluster-networks
  RoleBinding {account}
  a token of {account}, valid for {lifetime}; Viola renews it after half of this time

In {business}, namespace {identityNamespace}, if your user may do this:
  Role and RoleBinding {identityRole}: get of Namespace {identityNamespace}, whose uid identifies the cluster

In {management}, namespace {registrations}:
  Secret {provider}, label {label}={provider}: a kubeconfig for {server} with that token
`,
    ko: `비즈니스 클러스터 {business}를 프로바이더 {provider}로 등록합니다.

{business}의 네임스페이스 {namespace}:
  ServiceAccount {account}
  Role {account}: multinicnodeconfigs의 get, list, create, patch, delete, 자체 토큰의 create, ConfigMap multinic-cluster-networks의 get
  RoleBinding {account}
  {account}의 토큰, 유효 기간 {lifetime}. Viola가 기간의 절반이 지나면 갱신합니다

{business}의 네임스페이스 {identityNamespace}(사용자에게 권한이 있을 때):
  Role과 RoleBinding {identityRole}: 클러스터를 식별하는 uid가 있는 Namespace {identityNamespace}의 get

{management}의 네임스페이스 {registrations}:
  Secret {provider}, 레이블 {label}={provider}: 이 토큰이 있는 {server}의 kubeconfig
`,
  },
  stepNotReached: {
    en: 'not reached',
    ko: '확인하지 않음',
  },
  kernelNotRead: {
    en: 'The plan does not read the kernel of the nodes. To compare a node, run kubectl multinic diff NODE.',
    ko: '계획은 노드의 커널을 조회하지 않습니다. 노드와 비교하려면 kubectl multinic diff NODE를 실행하십시오.',
  },
  planHash: {
    en: 'Plan hash: {hash}. It changes when the OpenstackConfig, OpenStack or the business cluster changes.',
    ko: '계획 해시: {hash}. OpenstackConfig, OpenStack 또는 비즈니스 클러스터가 바뀌면 해시도 바뀝니다.',
  },
  noChanges: {
    en: 'No changes on {nodes}.',
    ko: '노드 {nodes}개에 변경 사항이 없습니다.',
  },
  problemsOnly: {
    en: '{problems}; apart from that, the plan leaves {nodes} unchanged.',
    ko: '문제 {problems}개. 그 밖에 계획은 노드 {nodes}개를 변경하지 않습니다.',
  },
  changes: {
    en: '{added} added, {changed} changed, {removed} removed on {changing} of {nodes}. {jobs} would start. Other nodes stay as they are.',
    ko: '노드 {nodes}개 중 {changing}개에서 NIC {added}개 추가, {changed}개 변경, {removed}개 제거. 에이전트 Job {jobs}개가 시작됩니다. 나머지 노드는 그대로입니다.',
  },
  rolloutOfSettings: {
    en: 'Rollout to {nodes}: {changes}; {first} first{others}.',
    ko: '노드 {nodes}개 롤아웃: {changes}, 먼저 노드 {first}개{others}.',
  },
  rolloutOfGeneration: {
    en: 'Rollout to {nodes}: another generation of the OpenstackConfig; {first} first{others}.',
    ko: '노드 {nodes}개 롤아웃: OpenstackConfig의 다른 세대, 먼저 노드 {first}개{others}.',
  },
  changesOfSubnet: { en: '{fields} of subnet {subnet}', ko: '서브넷 {subnet}의 {fields}' },
  nextStep: { en: ', then {size}', ko: ', 다음 {size}개' },
  planOfSync: {
    en: 'OpenstackConfig {config}, plan of the sync at {at} ({servers}, {ports})',
    ko: 'OpenstackConfig {config}, {at} 동기화의 계획 (서버 {servers}개, 포트 {ports}개)',
  },
  planNow: {
    en: 'OpenstackConfig {config}, planned with OpenStack ({servers}, {ports}) and the business cluster as they are now',
    ko: 'OpenstackConfig {config}, 현재 OpenStack(서버 {servers}개, 포트 {ports}개)과 비즈니스 클러스터 기준의 계획',
  },
} as const satisfies Readonly<Record<string, Wording>>;
