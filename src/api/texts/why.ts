import type { Wording } from './text.ts';

/** Texts for the steps in `multinic why`. */
export const whyTexts = {
  warning: {
    en: '; warning: {reason}',
    ko: '; 경고: {reason}',
  },
  notAllChecked: {
    en: '; not everything could be checked',
    ko: '; 확인하지 못한 항목이 있습니다',
  },
  sentence: {
    en: '{what} {nic}{suffix}',
    ko: '{what}{nic}{suffix}',
  },
  nicStays: {
    en: 'The NIC of {port} stays on node {place}: {reason}',
    ko: '{port}의 NIC가 노드 {place}에 유지됩니다: {reason}',
  },
  configuredButFailing: {
    en: '{what} is configured as {nic}, but step {step} fails: {reason}',
    ko: '{what}의 NIC {nic}가 설정되어 있지만 {step} 단계가 실패했습니다: {reason}',
  },
  nicNotConfigured: {
    en: 'The NIC of {port} is not configured: {reason}',
    ko: '{port}의 NIC를 설정하지 못했습니다: {reason}',
  },
  nicUnread: {
    en: 'The state of the NIC of {port} is unknown: {reason}',
    ko: '{port}의 NIC 상태를 알 수 없습니다: {reason}',
  },
  notANic: {
    en: '{what} is not a NIC: {reason}',
    ko: '{what}는 NIC가 아닙니다: {reason}',
  },
  nic: {
    en: 'NIC {text}',
    ko: 'NIC {text}',
  },
  portUnread: {
    en: 'The port, which could not be read,',
    ko: '조회하지 못한 포트',
  },
  portUnknown: {
    en: 'The port, which is unknown,',
    ko: '알 수 없는 포트',
  },
  address: {
    en: 'address {ip}',
    ko: '주소 {ip}',
  },
  network: {
    en: 'network {networkName}',
    ko: '네트워크 {networkName}',
  },
  portName: {
    en: 'Port {portId} ({known})',
    ko: '포트 {portId}({known})',
  },
  portOnServer: {
    en: '{name} on server {serverName}',
    ko: '서버 {serverName}의 {name}',
  },
  notExplained: {
    en: 'could not be explained',
    ko: '의 상태를 설명할 수 없습니다',
  },
  isConfiguredNic: {
    en: 'is the configured NIC {name} on node {node}',
    ko: '는 노드 {node}의 설정된 NIC {name}입니다',
  },
  isObservedNic: {
    en: 'is planned as NIC {name} on node {node}, which is only observed',
    ko: '는 관찰만 하는 노드 {node}에 NIC {name}로 계획되어 있습니다',
  },
  isNic: {
    en: 'is NIC {name} on node {node}',
    ko: '는 노드 {node}의 NIC {name}입니다',
  },
  period: {
    en: ' for {age}',
    ko: ' {age} 동안',
  },
  keepsNics: {
    en: '{node} keeps {nics}{period}: {why}',
    ko: '{node}에서 NIC {nics}개를{period} 유지합니다: {why}',
  },
  notDelivered: {
    en: 'the NIC is not delivered',
    ko: 'NIC가 전달되지 않았습니다',
  },
  nodeConfigUnread: {
    en: 'the MultiNicNodeConfig of {node} was not read',
    ko: '{node}의 MultiNicNodeConfig를 조회하지 못했습니다',
  },
  noStatus: {
    en: 'MultiNicNodeConfig {node} has no status: the controller of {providerId} has not handled it{cause}',
    ko: 'MultiNicNodeConfig {node}에 상태가 없습니다. {providerId}의 컨트롤러가 아직 처리하지 않았습니다{cause}',
  },
  ofNode: {
    en: '{node}: {text}',
    ko: '{node}: {text}',
  },
  generationNotHandled: {
    en: 'the controller of {providerId} has handled generation {observedGeneration} of {node}, not {generation} yet',
    ko: '{providerId}의 컨트롤러가 {node}의 generation {observedGeneration}까지 처리했으며 {generation}은 아직 처리하지 않았습니다',
  },
  entryUsable: {
    en: '1 entry can be used',
    ko: '항목 1개를 모두 사용할 수 있습니다',
  },
  entriesUsable: {
    en: 'all {entries} entries can be used',
    ko: '항목 {entries}개를 모두 사용할 수 있습니다',
  },
  otherEntriesRefused: {
    en: 'the entry can be used; others cannot',
    ko: '이 항목은 사용할 수 있으나 다른 항목 중 사용할 수 없는 것이 있습니다',
  },
  agentVersion: {
    en: 'agent {agentVersion}',
    ko: '에이전트 {agentVersion}',
  },
  anAgent: {
    en: 'the agent',
    ko: '에이전트',
  },
  agentRan: {
    en: '{version} has run{by}{at}',
    ko: '{version}가 실행되었습니다{by}{at}',
  },
  job: {
    en: 'Job {name}',
    ko: 'Job {name}',
  },
  jobAttempt: {
    en: 'Job {name} (attempt {attempt})',
    ko: 'Job {name}({attempt}번째 시도)',
  },
  atWork: {
    en: '{run} is at work on node {nodeName}',
    ko: '{run}가 노드 {nodeName}에서 실행 중입니다',
  },
  noJob: {
    en: 'no agent Job exists for node {nodeName} yet',
    ko: '노드 {nodeName}의 에이전트 Job이 아직 없습니다',
  },
  waitForAgent: {
    en: 'wait for the agent to end',
    ko: '에이전트가 끝날 때까지 기다려 주십시오',
  },
  violaUnreachable: {
    en: 'Viola does not reach business cluster {providerId}: {message}{at}{next}',
    ko: 'Viola가 비즈니스 클러스터 {providerId}에 연결하지 못합니다: {message}{at}{next}',
  },
  notRegistered: {
    en: 'no business cluster {id} is registered with Viola',
    ko: 'Viola에 비즈니스 클러스터 {id}가 등록되어 있지 않습니다',
  },
  noConfigDelivers: {
    en: 'no OpenstackConfig delivers the node of the server',
    ko: '서버의 노드를 전달하는 OpenstackConfig가 없습니다',
  },
  beingDeleted: {
    en: 'MultiNicNodeConfig {key} is being deleted',
    ko: 'MultiNicNodeConfig {key}가 삭제되는 중입니다',
  },
  portNotListed: {
    en: 'node {key} does not list the port among its NICs{removed}',
    ko: '노드 {key}의 NIC에 이 포트가 없습니다{removed}',
  },
  lastDeliveryUnknown: {
    en: 'the last delivery of {key} is not known',
    ko: '{key}의 마지막 전달 결과를 알 수 없습니다',
  },
  nicRemoved: {
    en: '; its NIC was removed, basis {basis}{when}',
    ko: '; NIC 제거됨, 근거 {basis}{when}',
  },
  allAgree: {
    en: 'port, Node address, MTU and versions agree',
    ko: '포트, Node 주소, MTU, 버전이 서로 맞습니다',
  },
  notChecked: {
    en: 'not checked: {text}',
    ko: '확인하지 않음: {text}',
  },
  adminStateOf: {
    en: 'admin_state_up of port {portId}',
    ko: '포트 {portId}의 admin_state_up',
  },
  notRead: {
    en: 'not read',
    ko: '조회하지 않았습니다',
  },
  carrierOf: {
    en: 'carrier of {name}',
    ko: '{name}의 캐리어',
  },
  carrierNotReported: {
    en: 'the agent did not report it',
    ko: '에이전트가 보고하지 않았습니다',
  },
  upgradeForCarrier: {
    en: 'upgrade the controller and the agent, then check the node: kubectl multinic diff',
    ko: '컨트롤러와 에이전트를 업그레이드한 뒤 노드를 확인하십시오: kubectl multinic diff',
  },
  portFits: {
    en: 'status, age and addresses are as required',
    ko: '상태, 생성 시각, 주소가 조건에 맞습니다',
  },
  nodeAndNic: {
    en: 'node {node}, NIC {name}',
    ko: '노드 {node}, NIC {name}',
  },
  undecided: {
    en: 'no sync has decided about the port',
    ko: '포트에 대한 동기화 결과가 없습니다',
  },
  nodeHas: {
    en: '{text}; node {nodeName} has {list}',
    ko: '{text}; 노드 {nodeName}의 NIC: {list}',
  },
  portAge: {
    en: 'the port was created at {createdAt}, the OpenstackConfig at {made}; spec.settings.portBaseline is {portBaseline}',
    ko: '포트는 {createdAt}에, OpenstackConfig는 {made}에 생성되었습니다. spec.settings.portBaseline은 {portBaseline}입니다',
  },
  wouldBeRefused: {
    en: 'an apply would refuse the NIC{at}: {text}',
    ko: '적용하면 이 NIC를 거부합니다{at}: {text}',
  },
  wouldBeApplied: {
    en: 'agents only check this node (spec.settings.mode is Observe){at}: {text}',
    ko: '에이전트가 이 노드를 점검만 합니다(spec.settings.mode가 Observe임){at}: {text}',
  },
  noAgentConfigured: {
    en: 'no agent has configured the NIC',
    ko: 'NIC를 설정한 에이전트가 없습니다',
  },
  noLink: {
    en: 'no link has the MAC {macAddress}',
    ko: 'MAC {macAddress}인 링크가 노드에 없습니다',
  },
  lastCheckFailed: {
    en: 'the last check of the node failed: {text}',
    ko: '노드의 마지막 확인이 실패했습니다: {text}',
  },
  hasCarrier: {
    en: ', the link has a carrier',
    ko: ', 링크에 캐리어가 있습니다',
  },
  hasNoCarrier: {
    en: ', the link has no carrier',
    ko: ', 링크에 캐리어가 없습니다',
  },
  asApplied: {
    en: 'the node has what was applied{link}{at}',
    ko: '노드가 적용된 상태와 같습니다{link}{at}',
  },
  networkManager: {
    en: 'the network manager',
    ko: '네트워크 관리 데몬',
  },
  bootFilesMatch: {
    en: 'the files of {manager} match the configuration',
    ko: '{manager} 파일이 설정과 같습니다',
  },
  portNotFound: {
    en: 'no account of an OpenstackConfig sees this port',
    ko: '어떤 OpenstackConfig의 계정으로도 이 포트를 조회할 수 없습니다',
  },
  notAttached: {
    en: 'the port is {status} and attached to no server{read}',
    ko: '포트가 {status}이며 서버에 연결되어 있지 않습니다{read}',
  },
  notPlugged: {
    en: 'its device_owner is "{deviceOwner}" and not compute:<zone>, so Nova did not plug it into server {serverName}{read}',
    ko: 'device_owner가 "{deviceOwner}"이고 compute:<zone>이 아니므로 Nova가 서버 {serverName}에 연결한 포트가 아닙니다{read}',
  },
  attached: {
    en: 'the port is {status} and attached to server {deviceId}{read}',
    ko: '포트가 {status}이며 서버 {deviceId}에 연결되어 있습니다{read}',
  },
  unknownPort: {
    en: 'the port is unknown',
    ko: '포트를 알 수 없습니다',
  },
  serverNotSelected: {
    en: 'no OpenstackConfig of its project selects server {serverName} or a subnet of the port',
    ko: '프로젝트의 어떤 OpenstackConfig도 서버 {serverName} 또는 포트의 서브넷을 선택하지 않습니다',
  },
  selectionUnread: {
    en: 'the selection of OpenstackConfig {key} could not be read',
    ko: 'OpenstackConfig {key}의 선택 대상을 조회하지 못했습니다',
  },
  subnetOnly: {
    en: 'OpenstackConfig {key} selects subnet {subnets}, but not server {server} ({deviceId})',
    ko: 'OpenstackConfig {key}가 서브넷 {subnets}를 선택하지만 서버 {server}({deviceId})는 선택하지 않습니다',
  },
  serverNotChosen: {
    en: 'OpenstackConfig {key} does not select server {server} ({deviceId})',
    ko: 'OpenstackConfig {key}가 서버 {server}({deviceId})를 선택하지 않습니다',
  },
  selectedSubnets: {
    en: '; it selects {list}',
    ko: ' (선택한 서브넷: {list})',
  },
  subnetNotSelected: {
    en: 'OpenstackConfig {key} selects server {serverName}, but not subnet {subnets}{others}',
    ko: 'OpenstackConfig {key}가 서버 {serverName}를 선택하지만 서브넷 {subnets}는 선택하지 않습니다{others}',
  },
  selectsServer: {
    en: 'OpenstackConfig {key} selects server {server}',
    ko: 'OpenstackConfig {key}가 서버 {server}를 선택합니다',
  },
  selectsBoth: {
    en: 'OpenstackConfig {key} selects subnet {subnets} and server {server}',
    ko: 'OpenstackConfig {key}가 서브넷 {subnets}와 서버 {server}를 선택합니다',
  },
  paused: {
    en: 'OpenstackConfig {config} is paused (annotation multinic.io/paused: {value}): {message}',
    ko: 'OpenstackConfig {config}가 일시 중지되었습니다(어노테이션 multinic.io/paused: {value}): {message}',
  },
  syncFails: {
    en: 'the sync of OpenstackConfig {config} fails: {words}{next}',
    ko: 'OpenstackConfig {config}의 동기화가 실패합니다: {words}{next}',
  },
  noSync: {
    en: 'none yet',
    ko: '없음',
  },
  timeUnknown: {
    en: 'unknown',
    ko: '알 수 없음',
  },
  noDecision: {
    en: 'no sync of OpenstackConfig {config} has decided about this port yet; trigger mode {trigger}, last sync {last}, next sync {next}',
    ko: 'OpenstackConfig {config}의 동기화가 아직 이 포트를 처리하지 않았습니다. 트리거 모드 {trigger}, 마지막 동기화 {last}, 다음 동기화 {next}',
  },
  checkedAt: {
    en: ' (checked at {at})',
    ko: ' ({at} 확인)',
  },
  nextTryDue: {
    en: '; next try due since {at}',
    ko: '; 다음 시도 예정 시각 {at}이 지났습니다',
  },
  nextTryAt: {
    en: '; next try at {at} (in {left})',
    ko: '; 다음 시도 {at}({left} 후)',
  },
  ago: {
    en: ' ({done} {age} ago)',
    ko: ' ({age} 전 {done})',
  },
  checked: {
    en: 'checked',
    ko: '확인',
  },
  tried: {
    en: 'tried',
    ko: '시도',
  },
  removed: {
    en: 'removed',
    ko: '제거',
  },
  delivered: {
    en: 'delivered',
    ko: '전달',
  },
  read: {
    en: 'read',
    ko: '조회',
  },
  days: {
    en: '{count}d',
    ko: '{count}일',
  },
  hours: {
    en: '{count}h',
    ko: '{count}시간',
  },
  minutes: {
    en: '{count}m',
    ko: '{count}분',
  },
  seconds: {
    en: '{count}s',
    ko: '{count}초',
  },
} as const satisfies Readonly<Record<string, Wording>>;
