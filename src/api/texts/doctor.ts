import type { Wording } from './text.ts';

/** Texts for the sections in `multinic doctor`. */
export const doctorTexts = {
  mtuDiffers: {
    en: '{nics} of network {network} {have} MTU {usual}, {others}',
    ko: '네트워크 {network}의 NIC {nics}개는 MTU {usual}, {others}',
  },
  addressOfNic: {
    en: 'InternalIP {address} of Node {node} belongs to {nic} (InternalIPs: {all}); kubectl logs and exec may fail',
    ko: 'Node {node}의 InternalIP {address}가 {nic}의 주소입니다(InternalIP: {all}). kubectl logs와 exec가 실패할 수 있습니다',
  },
  noConfigIn: {
    en: 'no OpenstackConfig in namespace {namespace}',
    ko: '네임스페이스 {namespace}에 OpenstackConfig가 없습니다',
  },
  noSuchNode: {
    en: 'the cluster behind the access options for {provider} has no Node with {id}',
    ko: '{provider}의 접속 옵션으로 연결한 클러스터에 {id}인 Node가 없습니다',
  },
  checkContext: {
    en: 'check that {option} names the right cluster',
    ko: '{option} 옵션이 올바른 클러스터를 가리키는지 확인하십시오',
  },
  networkShared: {
    en: '{networks}: all packets into it leave by one NIC; agents of this release report every other NIC as Failed',
    ko: '같은 네트워크를 사용하는 NIC가 있습니다({networks}). 이 네트워크로 가는 패킷은 모두 한 NIC로 나가며, 이 버전의 에이전트는 나머지 NIC를 Failed로 보고합니다',
  },
  servicePathTaken: {
    en: '{name} takes the path to the Service address {service} of the API server: {own} overlaps {other}',
    ko: '노드가 API 서버의 Service 주소 {service}에 {name}로 접근합니다. {own}이(가) {other}와 겹칩니다',
  },
  overlaps: {
    en: '{name}: {own} overlaps {other}; a NIC that is configured stays, a port that is attached again is refused',
    ko: '{name}: {own}이(가) {other}와 겹칩니다. 이미 설정된 NIC는 유지되지만, 다시 연결한 포트는 거부됩니다',
  },
  otherSubnet: {
    en: 'move the NICs to a subnet, or to routes, outside the network; if the cluster does not use the network, set controller.serviceCIDRs or controller.podNetworks of the agent chart in the upgrade',
    ko: 'NIC를 이 네트워크와 겹치지 않는 서브넷이나 라우트로 옮기십시오. 클러스터가 이 네트워크를 사용하지 않으면 업그레이드할 때 에이전트 차트의 controller.serviceCIDRs 또는 controller.podNetworks를 설정하십시오',
  },
  ownSubnets: {
    en: 'set spec.settings.routing of the OpenstackConfig to pbr, or give each NIC of the node a subnet of its own',
    ko: 'OpenstackConfig의 spec.settings.routing을 pbr로 설정하거나, 노드의 NIC마다 다른 서브넷을 사용하십시오',
  },
  downButUp: {
    en: 'Neutron reports port {port} DOWN, but the link of {nic} has a carrier',
    ko: 'Neutron은 포트 {port}를 DOWN으로 보고하지만 {nic}의 링크에는 캐리어가 있습니다',
  },
  adminDown: {
    en: 'admin_state_up of port {portId} is false',
    ko: '포트 {portId}의 admin_state_up이 false입니다',
  },
  partOf: {
    en: '{part} of {providerId}',
    ko: '{providerId}의 {part}',
  },
  versionSkew: {
    en: '{name} {version}, operator {operator}',
    ko: '{name} {version}, operator {operator}',
  },
  noAccess: {
    en: 'no access',
    ko: '접근할 수 없습니다',
  },
  addOption: {
    en: 'add {option}',
    ko: '{option} 옵션을 추가하십시오',
  },
  noFailedDelivery: {
    en: 'no OpenstackConfig reports a failed delivery',
    ko: '전달 실패를 보고하는 OpenstackConfig가 없습니다',
  },
  deliveredNodes: {
    en: '{nodes} in {clusters}, 0 waiting',
    ko: '비즈니스 클러스터 {clusters}개의 노드 {nodes}개, 대기 중 0개',
  },
  connectionOf: {
    en: 'connection of {providerId}',
    ko: '{providerId}의 연결 상태',
  },
  violaUnread: {
    en: 'Viola was not read',
    ko: 'Viola를 조회하지 못했습니다',
  },
  clusterNotReached: {
    en: 'Viola does not reach the business cluster{message}',
    ko: 'Viola가 비즈니스 클러스터에 연결하지 못합니다{message}',
  },
  checkViola: {
    en: 'check that Viola runs and that the operator reaches it',
    ko: 'Viola가 실행 중이고 오퍼레이터가 연결할 수 있는지 확인하십시오',
  },
  clusterUnreachable: {
    en: 'Viola does not reach it: {message}{at}',
    ko: 'Viola가 연결하지 못합니다: {message}{at}',
  },
  violaLacksRights: {
    en: 'Viola lacks the rights {list}',
    ko: 'Viola에 권한이 없습니다: {list}',
  },
  clusterNotRegistered: {
    en: 'no business cluster of this id is registered with Viola',
    ko: 'Viola에 이 ID의 비즈니스 클러스터가 등록되어 있지 않습니다',
  },
  oneMtu: {
    en: '{networks}: one MTU in each',
    ko: '네트워크 {networks}개: 각 네트워크의 MTU가 일치합니다',
  },
  oldestCheck: {
    en: ' (oldest check {age} ago)',
    ko: ' (가장 오래된 확인 {age} 전)',
  },
  bootFilesMatch: {
    en: '{nodes}: files match the running configuration{since}',
    ko: '노드 {nodes}개: 파일이 실행 중인 설정과 같습니다{since}',
  },
  bootFilesOf: {
    en: 'boot files of {nodes}',
    ko: '노드 {nodes}개의 부팅 파일',
  },
  noAgentReport: {
    en: 'no agent has reported them',
    ko: '에이전트가 보고하지 않았습니다',
  },
  nodeConfigsOf: {
    en: 'MultiNicNodeConfigs of {provider}',
    ko: '{provider}의 MultiNicNodeConfig',
  },
  clusterNetworksOf: {
    en: 'Networks for Services and Pods of {provider}',
    ko: '{provider}의 Service·Pod 네트워크',
  },
  allNicsConfigured: {
    en: '{nics} on {nodes} configured',
    ko: '노드 {nodes}개의 NIC {nics}개가 설정되었습니다',
  },
  someNicsConfigured: {
    en: '{done} of {nics} on {nodes} configured',
    ko: '노드 {nodes}개의 NIC {nics}개 중 {done}개가 설정되었습니다',
  },
  nicsNotSent: {
    en: 'the MultiNicNodeConfig lacks planned NICs',
    ko: 'MultiNicNodeConfig에 계획한 NIC가 없습니다',
  },
  statusOf: {
    en: 'status of {nodes} of {provider}',
    ko: '{provider}의 노드 {nodes}개의 상태',
  },
  notReported: {
    en: 'not reported',
    ko: '보고되지 않았습니다',
  },
  ofNic: {
    en: '{name}: {text}',
    ko: '{name}: {text}',
  },
  lookAtNic: {
    en: 'look at the NIC',
    ko: 'NIC를 확인하십시오',
  },
  nodeDiffers: {
    en: 'the node differs from what was applied',
    ko: '노드가 적용된 상태와 다릅니다',
  },
  nicDiffers: {
    en: '{name} differs from what was applied: {message}',
    ko: '{name}이(가) 적용된 상태와 다릅니다: {message}',
  },
  nodesOf: {
    en: 'Nodes of {provider}',
    ko: '{provider}의 Node',
  },
  allSynced: {
    en: '{openstackConfigs} synced; credentials valid',
    ko: 'OpenstackConfig {openstackConfigs}개가 동기화되었습니다. 자격 증명이 유효합니다',
  },
  someSynced: {
    en: '{synced} of {openstackConfigs} synced',
    ko: 'OpenstackConfig {openstackConfigs}개 중 {synced}개가 동기화되었습니다',
  },
  subnetsNotSelected: {
    en: '{ports} of selected servers {are} in subnets that are not selected',
    ko: '선택한 서버의 포트 {ports}개가 선택하지 않은 서브넷에 있습니다',
  },
  portsUnused: {
    en: '{ports}; {address}: {cause}',
    ko: '포트 {ports}개가 NIC가 아닙니다; {address}: {cause}',
  },
  cloudOf: {
    en: 'cloud of {config}',
    ko: '{config}의 클라우드',
  },
  notExamined: {
    en: 'not examined',
    ko: '확인하지 못했습니다',
  },
  nothingToExamine: {
    en: 'nothing to examine',
    ko: '확인할 대상이 없습니다',
  },
  scaledToZero: {
    en: 'scaled to 0 replicas',
    ko: '레플리카가 0개로 설정되어 있습니다',
  },
  notInstalled: {
    en: 'not installed: the management cluster has neither a Deployment nor a Lease of the operator',
    ko: '설치되어 있지 않습니다. 관리 클러스터에 오퍼레이터의 Deployment와 Lease가 모두 없습니다',
  },
  notInstalledShort: {
    en: 'not installed',
    ko: '설치되지 않음',
  },
  severalOperators: {
    en: 'operators are installed in namespace {examined} and in namespace {others}; this answer is about the one in {examined}',
    ko: '네임스페이스 {examined}와 {others}에 오퍼레이터가 설치되어 있습니다. 이 결과는 {examined}의 오퍼레이터에 대한 것입니다',
  },
  runsOutside: {
    en: 'the operator is a process outside the management cluster: a Lease exists, but no Deployment',
    ko: '오퍼레이터가 관리 클러스터 밖의 프로세스로 실행됩니다. Lease는 있지만 Deployment는 없습니다',
  },
  podNotStarted: {
    en: 'Pod {pod} does not start: {reason}{image}{message}',
    ko: 'Pod {pod}가 시작되지 않습니다: {reason}{image}{message}',
  },
  ofImage: {
    en: ', image {image}',
    ko: ', 이미지 {image}',
  },
  partNotReady: {
    en: '{problem} ({readyReplicas} of {replicas} replicas ready)',
    ko: '{problem} (준비된 레플리카 {readyReplicas}/{replicas})',
  },
  noReplicaLeads: {
    en: 'no replica leads',
    ko: '리더인 레플리카가 없습니다',
  },
  sameVersions: {
    en: '{names}; {leaders}; same versions',
    ko: '{names}; 리더 {leaders}개; 같은 버전',
  },
  unknownVersions: {
    en: '{names}; {leaders}; versions unknown',
    ko: '{names}; 리더 {leaders}개; 버전을 알 수 없음',
  },
  clusterShared: {
    en: "OpenstackConfigs of the namespaces {list} deliver to it, and the operator's NAMESPACE_CLUSTERS is not set",
    ko: '네임스페이스 {list}의 OpenstackConfig가 이 클러스터에 전달하며, 오퍼레이터의 NAMESPACE_CLUSTERS가 설정되어 있지 않습니다',
  },
  namespaceMap: {
    en: '{text} NAMESPACE_CLUSTERS={map} permits the present deliveries to it; add the other business clusters: a namespace without an entry delivers nowhere',
    ko: '{text} NAMESPACE_CLUSTERS={map}로 설정하면 이 클러스터에 대한 현재 전달이 허용됩니다. 항목이 없는 네임스페이스는 어디에도 전달할 수 없으므로 다른 비즈니스 클러스터도 추가하십시오',
  },
  namespacesOfClusters: {
    en: 'namespaces of business clusters',
    ko: '비즈니스 클러스터의 네임스페이스',
  },
  mapNotReported: {
    en: 'the operator does not report NAMESPACE_CLUSTERS',
    ko: '오퍼레이터가 NAMESPACE_CLUSTERS를 알려 주지 않습니다',
  },
  upgradeOperator: {
    en: 'upgrade the operator',
    ko: '오퍼레이터를 업그레이드하십시오',
  },
} as const satisfies Readonly<Record<string, Wording>>;
