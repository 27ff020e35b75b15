import type { Wording } from './text.ts';

/** Texts about NICs that other programs configured. */
export const existingNicsTexts = {
  fileOnNodes: {
    en: '{nodes}: {file} configures {nics}{sections}: {names}',
    ko: '노드 {nodes}개: {file} 파일이 NIC {nics}개를 설정합니다{sections}: {names}',
  },
  filesOnNodes: {
    en: '{nodes}: {files} configure {nics}: {names}',
    ko: '노드 {nodes}개: {files} 파일이 NIC {nics}개를 설정합니다: {names}',
  },
  refusedOnNodes: {
    en: '{nodes}: {nics} with this reason, for example {nic}: {text}',
    ko: '노드 {nodes}개: NIC {nics}개가 같은 이유로 거부되었습니다. 예: {nic}: {text}',
  },
  sections: { en: ' by {list}', ko: ' [{list}]' },
  moreExamples: { en: ', …', ko: ', …' },
  moreNodes: { en: '{names} and {count} more', ko: '{names} 외 {count}개' },
  releaseNetplan: {
    en: 'remove the stanza of the NIC from {file}, prevent cloud-init from writing it again, and reboot the node, as docs/guides/existing-nics.md describes; then check the result:',
    ko: 'docs/guides/existing-nics.ko.md에 따라 {file}에서 이 NIC의 항목을 제거하고, cloud-init이 다시 쓰지 않게 한 다음 노드를 재부팅하십시오. 그런 다음 결과를 확인하십시오:',
  },
  releaseNetworkd: {
    en: 'exclude the NIC from [Match] of {file}, or remove the file if it is for this NIC only, and reboot the node, as docs/guides/existing-nics.md describes; then check the result:',
    ko: 'docs/guides/existing-nics.ko.md에 따라 {file}의 [Match]에서 이 NIC를 제외하거나 이 NIC만을 위한 파일이면 제거한 다음 노드를 재부팅하십시오. 그런 다음 결과를 확인하십시오:',
  },
  releaseKeyfile: {
    en: 'delete the profile {file}, or restrict it to other NICs, and reboot the node, as docs/guides/existing-nics.md describes; then check the result:',
    ko: 'docs/guides/existing-nics.ko.md에 따라 프로파일 {file}을 삭제하거나 다른 NIC에만 적용되게 한 다음 노드를 재부팅하십시오. 그런 다음 결과를 확인하십시오:',
  },
  releaseIfcfg: {
    en: 'remove {file} (of the NIC, not of the node), and reboot the node, as docs/guides/existing-nics.md describes; then check the result:',
    ko: 'docs/guides/existing-nics.ko.md에 따라 {file}(노드 자체의 NIC가 아닌 이 NIC의 파일)을 제거한 다음 노드를 재부팅하십시오. 그런 다음 결과를 확인하십시오:',
  },
  releaseOther: {
    en: 'remove the configuration of the NIC from {file}, and reboot the node, as docs/guides/existing-nics.md describes; then check the result:',
    ko: 'docs/guides/existing-nics.ko.md에 따라 {file}에서 이 NIC의 설정을 제거한 다음 노드를 재부팅하십시오. 그런 다음 결과를 확인하십시오:',
  },
  onlyObserved: {
    en: 'Only observed: spec.settings.mode of OpenstackConfig {config} is Observe. Nothing was changed on the node.',
    ko: '관찰만 합니다: OpenstackConfig {config}의 spec.settings.mode가 Observe입니다. 노드에서 아무것도 변경하지 않았습니다.',
  },
  applyRefuses: {
    en: 'an apply would refuse the NIC and change nothing on it',
    ko: '적용하면 이 NIC를 거부하고 아무것도 변경하지 않습니다',
  },
  foundTitle: {
    en: '- found on the node, not managed by MultiNIC',
    ko: '- 노드에 있으며 MultiNIC이 관리하지 않는 설정',
  },
  foundFile: {
    en: 'file {file}{section}: configures the NIC at the next boot',
    ko: '파일 {file}{section}: 다음 부팅 때 이 NIC를 설정합니다',
  },
  foundLease: {
    en: 'addresses by DHCP or router advertisements',
    ko: 'DHCP 또는 라우터 광고로 받은 주소',
  },
  adoptNow: {
    en: 'with existingConfiguration: Adopt an apply takes this configuration over at once',
    ko: 'existingConfiguration: Adopt이면 적용할 때 이 설정을 바로 인수합니다',
  },
  adoptAtBoot: {
    en: 'with existingConfiguration: Adopt an apply takes the files over; they take effect at the next boot, as agents have no system bus (controller.settings.agentSystemBus)',
    ko: 'existingConfiguration: Adopt이면 적용할 때 파일을 인수합니다. 에이전트가 시스템 버스를 사용할 수 없으므로(controller.settings.agentSystemBus) 다음 부팅 때 적용됩니다',
  },
  adoptRefused: {
    en: 'cannot be adopted ({adoption}): {why}',
    ko: '인수할 수 없습니다({adoption}): {why}',
  },
  whyNodeLink: {
    en: 'the node needs the NIC, for its address or its only default route',
    ko: '노드의 주소나 유일한 기본 라우트 때문에 노드에 이 NIC가 필요합니다',
  },
  whyOtherLinksToo: {
    en: 'the stanza also configures other links; give the NIC a stanza of its own',
    ko: '이 항목은 다른 링크도 설정합니다. 이 NIC만의 항목을 만드십시오',
  },
  whyFileWins: {
    en: 'the network manager prefers the file to the files of MultiNIC; rename the file (netplan: to a name before 9, systemd-networkd: after 05), or lower the priority of the profile',
    ko: '네트워크 관리 데몬이 MultiNIC의 파일보다 이 파일을 우선합니다. 파일 이름을 바꾸거나(netplan은 9보다 앞, systemd-networkd는 05보다 뒤) 프로파일의 우선순위를 낮추십시오',
  },
  whyCannotParse: {
    en: 'the file cannot be read as configuration; correct the file',
    ko: '파일을 설정으로 읽을 수 없습니다. 파일을 수정하십시오',
  },
  whyOnlyNameServers: {
    en: 'the NIC gives the node its only name servers; give the node name servers by its own NIC',
    ko: '이 NIC가 노드의 유일한 이름 서버를 제공합니다. 노드 자체의 NIC에 이름 서버를 설정하십시오',
  },
  whyLinkInUse: {
    en: 'a bridge, a bond, a VLAN or a Pod uses the NIC',
    ko: '브리지, 본드, VLAN 또는 Pod가 NIC를 사용합니다',
  },
  whyTurnedOff: {
    en: 'the file keeps the NIC down; remove this option from the file',
    ko: '파일이 NIC를 내려간 상태로 유지합니다. 파일에서 이 옵션을 제거하십시오',
  },
  whyNotFromFile: {
    en: 'an address or a route on the NIC is in no file and no lease; remove it from the NIC',
    ko: 'NIC의 주소나 라우트 중 파일이나 임대에 없는 것이 있습니다. NIC에서 제거하십시오',
  },
  whyOther: {
    en: 'see docs/guides/existing-nics.md',
    ko: 'docs/guides/existing-nics.ko.md를 참고하십시오',
  },
  adoptStep: {
    en: '{count} of {nics} can be adopted; preview the change, then consent (after that, each node takes the configuration over by the rollout, at once where agents have the system bus, else at its next boot):',
    ko: 'NIC {nics}개 중 {count}개를 인수할 수 있습니다. 변경을 미리 확인한 다음 동의하십시오(그러면 롤아웃에 따라 각 노드가 설정을 인수하며, 에이전트가 시스템 버스를 사용하면 바로, 아니면 다음 부팅 때 적용됩니다):',
  },
  adoptObserved: {
    en: '{count} of {nics} can be adopted; preview the change, then consent and leave mode Observe (after that, each node takes the configuration over by the rollout, at once where agents have the system bus, else at its next boot):',
    ko: 'NIC {nics}개 중 {count}개를 인수할 수 있습니다. 변경을 미리 확인한 다음 동의하고 Observe 모드를 끝내십시오(그러면 롤아웃에 따라 각 노드가 설정을 인수하며, 에이전트가 시스템 버스를 사용하면 바로, 아니면 다음 부팅 때 적용됩니다):',
  },
  planAdopts: {
    en: 'spec.settings.existingConfiguration is Adopt: agents take over existing configuration of the NICs, one node first.',
    ko: 'spec.settings.existingConfiguration이 Adopt입니다. 에이전트가 NIC의 기존 설정을 인수하며 한 노드부터 시작합니다.',
  },
  foundAddress: { en: 'address {address}', ko: '주소 {address}' },
  foundRoute: { en: 'route {route}', ko: '라우트 {route}' },
  foundNameServer: { en: 'name server {nameServer}', ko: '이름 서버 {nameServer}' },
  atNextBoot: { en: '{line} (takes effect at the next boot)', ko: '{line} (다음 부팅 때 적용)' },
  toApply: {
    en: 'To apply the NICs without an obstacle, leave mode Observe:',
    ko: '가로막는 설정이 없는 NIC를 적용하려면 Observe 모드를 끝내십시오:',
  },
  lastChecks: {
    en: 'On the nodes, by their last checks{since}:',
    ko: '노드의 마지막 점검에 따름{since}:',
  },
  observedNics: {
    en: 'observed: {done} of {all} as planned; an apply would change {changed} and refuse {refused}',
    ko: '관찰: NIC {all}개 중 {done}개가 계획과 같습니다. 적용하면 {changed}개를 변경하고 {refused}개를 거부합니다',
  },
  nodesSent: { en: '~ {nodes}  {why}', ko: '~ 노드 {nodes}개  {why}' },
  planObserves: {
    en: 'spec.settings.mode is Observe: nodes are only checked, and no agent changes a node.',
    ko: 'spec.settings.mode가 Observe입니다. 노드를 점검만 하며 에이전트가 노드를 변경하지 않습니다.',
  },
  controllerTooOld: {
    en: 'the controller of the business cluster does not know mode Observe: it does not check the node, and changes nothing',
    ko: '비즈니스 클러스터의 컨트롤러가 Observe 모드를 지원하지 않아 노드를 점검하지 않으며, 아무것도 변경하지 않습니다',
  },
  upgradeController: {
    en: 'upgrade the chart multinic-agent in the business cluster, see docs/guides/upgrade.md',
    ko: '비즈니스 클러스터의 multinic-agent 차트를 업그레이드하십시오(docs/guides/upgrade.ko.md 참고)',
  },
  observedOf: {
    en: '; {nodes} only observed',
    ko: ', 관찰만 하는 노드 {nodes}개',
  },
} as const satisfies Readonly<Record<string, Wording>>;
