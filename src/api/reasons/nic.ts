import { multinic, openstack } from './next-step-row.ts';
import { nothing, type ReasonRow, row } from './reason-row.ts';

const attachAgain = {
  en: 'if the hypervisor does not plug the NIC within minutes (for example because its PCIe slots are used up), detach and attach the port again:',
  ko: '하이퍼바이저가 몇 분 안에 NIC를 연결하지 않으면(PCIe 슬롯 부족 등) 포트를 분리한 뒤 다시 연결하십시오.',
};

/** Reasons for one NIC. */
export const nicReasons = {
  Configured: row(
    'nic',
    false,
    [
      'The NIC has its name, MTU, addresses, routes and files.',
      '이름, MTU, 주소, 라우트, 설정 파일이 모두 적용되었습니다.',
    ],
    nothing,
  ),
  Removed: row(
    'nic',
    false,
    [
      'The configuration of the NIC is removed from the node.',
      '노드에서 이 NIC의 설정이 모두 제거되었습니다.',
    ],
    nothing,
  ),
  Drifted: row(
    'nic',
    true,
    [
      'The NIC differs from what the agent configured; the check changed nothing.',
      'NIC가 에이전트가 설정한 상태와 다릅니다. 점검만 했으며 아무것도 변경하지 않았습니다.',
    ],
    [
      'Nothing with drift policy heal. Otherwise restore the NIC on the node, or set controller.settings.driftPolicy to heal.',
      '드리프트 정책이 heal이면 조치할 것이 없습니다. 그렇지 않으면 노드의 NIC를 되돌리거나 controller.settings.driftPolicy를 heal로 설정하십시오.',
    ],
    {
      nextStep: [
        { commands: [multinic('sync', '--node', '{node}')], preview: [multinic('diff', '{node}')] },
      ],
    },
  ),
  WaitingForNIC: row(
    'nic',
    true,
    ['No link on the node has this MAC yet.', '노드에 해당 MAC을 가진 링크가 아직 없습니다.'],
    [
      'Wait. If the NIC stays missing, check that the port is attached to this server.',
      '기다려 주십시오. 계속되면 포트가 이 서버에 연결되었는지 확인하십시오.',
    ],
    {
      alerts: ['MultiNicNicMissing'],
      nextStep: [
        {
          text: attachAgain,
          commands: [
            openstack('server', 'remove', 'port', '{server}', '{port}'),
            openstack('server', 'add', 'port', '{server}', '{port}'),
          ],
        },
        { text: attachAgain },
      ],
    },
  ),
  NICInUse: row(
    'nic',
    true,
    [
      'The link has addresses, routes, a master or child links (also macvlans of Pods) that MultiNIC did not create.',
      '링크에 MultiNIC이 만들지 않은 주소, 라우트, 마스터 또는 하위 링크(Pod의 macvlan 포함)가 있습니다.',
    ],
    [
      'Remove that configuration from the node, or exclude the port from the OpenstackConfig.',
      '노드에서 해당 설정을 제거하거나 OpenstackConfig의 선택 대상에서 포트를 제외하십시오.',
    ],
    {
      codes: [
        'NameUnsupported',
        'LinkHasMaster',
        'LinkHasUpper',
        'ForeignAddress',
        'ForeignRoute',
        'ForeignReceiver',
        'NameTaken',
        'AddressElsewhere',
        'FileConfiguresNic',
        'FileMatchesNic',
        'FileUnreadable',
        'AdoptionRefused',
      ],
      nextStep: [
        {
          text: {
            en: 'remove the address on the node, or take the port out of the selection:',
            ko: '노드에서 이 주소를 제거하거나, 포트를 선택 대상에서 제외하십시오.',
          },
          commands: [['ip', 'addr', 'del', '{foreignAddress}', 'dev', '{foreignLink}']],
        },
      ],
    },
  ),
  PrimaryNIC: row(
    'nic',
    false,
    [
      'The link has the address or the default route of the node; MultiNIC never changes it.',
      '노드 자신의 주소나 기본 라우트가 있는 링크이므로 절대 변경하지 않습니다.',
    ],
    [
      'Exclude the subnet of the primary NIC from the OpenstackConfig.',
      '기본 NIC의 서브넷을 OpenstackConfig의 선택 대상에서 제외하십시오.',
    ],
    { codes: ['NodeAddress', 'NodeDefaultRoute', 'AdoptionRefused'] },
  ),
  DuplicateMAC: row(
    'nic',
    true,
    [
      'Several NICs of the node have this MAC. Bridges, bonds, taps and other virtual links do not count.',
      '노드의 여러 NIC가 같은 MAC을 사용합니다. 브리지, 본드, 탭 등 가상 링크는 세지 않습니다.',
    ],
    ['Give each NIC its own MAC.', '각 NIC에 고유한 MAC을 지정하십시오.'],
  ),
  TableInUse: row(
    'nic',
    true,
    [
      'Another program uses the routing table or the rule priority of this NIC.',
      '이 NIC의 라우팅 테이블 또는 규칙 우선순위를 다른 프로그램이 사용 중입니다.',
    ],
    [
      'Free table 100+N and priority 10100+N on the node (N: index of the NIC).',
      '노드에서 테이블 100+N과 우선순위 10100+N을 비우십시오(N: NIC의 인덱스).',
    ],
    { codes: ['TableHasForeignRoute', 'PriorityTaken'] },
  ),
  SubnetOverlapsPrimary: row(
    'nic',
    false,
    [
      "The NIC's subnet overlaps that of the node's primary NIC.",
      'NIC의 서브넷이 노드 기본 NIC의 서브넷과 겹칩니다.',
    ],
    ['Use a subnet that does not overlap.', '겹치지 않는 서브넷을 사용하십시오.'],
    { codes: ['OverlapsNodeAddress', 'OverlapsNetwork'] },
  ),
  SubnetOverlapsForeign: row(
    'nic',
    true,
    [
      "The NIC's subnet overlaps a subnet or route of another network in the main table (CNI, pods, VPN). A wider route through the gateway of a NIC or of a link with a default route, such as `10.0.0.0/8 via …`, is not an overlap.",
      'NIC의 서브넷이 main 테이블에 있는 다른 네트워크(CNI, Pod, VPN)의 서브넷이나 라우트와 겹칩니다. `10.0.0.0/8 via …`처럼 NIC나 기본 라우트가 있는 링크의 게이트웨이로 나가는 더 넓은 라우트는 겹침으로 보지 않습니다.',
    ],
    [
      'Use a subnet that does not overlap, or remove the route that the message names.',
      '겹치지 않는 서브넷을 사용하거나 메시지에 표시된 라우트를 제거하십시오.',
    ],
    { codes: ['OverlapsNetwork'] },
  ),
  SubnetOverlapsCluster: row(
    'nic',
    false,
    [
      "The NIC's subnet or a route overlaps a network that the business cluster uses for Services or Pods: with the NIC, the node would reach Services and Pods by the NIC.",
      'NIC의 서브넷이나 라우트가 비즈니스 클러스터의 Service 또는 Pod 네트워크와 겹칩니다. NIC를 설정하면 노드가 Service와 Pod에 이 NIC로 접근하게 됩니다.',
    ],
    [
      'Use a subnet that does not overlap the network that the message names. If the cluster does not use this network, set controller.serviceCIDRs or controller.podNetworks.',
      '메시지에 표시된 네트워크와 겹치지 않는 서브넷을 사용하십시오. 클러스터가 그 네트워크를 사용하지 않으면 controller.serviceCIDRs 또는 controller.podNetworks를 설정하십시오.',
    ],
    { step: 'Filter', codes: ['OverlapsClusterNetwork'] },
  ),
  PathBypassed: row(
    'nic',
    false,
    [
      "A routing rule before the NIC's own rule sends packets from the NIC's address by another link; the port security of Neutron drops these packets.",
      'NIC의 규칙보다 앞선 라우팅 규칙이 NIC 주소에서 나가는 패킷을 다른 링크로 보냅니다. 이런 패킷은 Neutron의 포트 보안이 차단합니다.',
    ],
    [
      'Remove the rule that the message names, or give it a priority above 10109 (VPN clients and NetworkManager profiles set such rules).',
      '메시지에 표시된 규칙을 제거하거나 우선순위를 10109보다 크게 설정하십시오(VPN 클라이언트나 NetworkManager 프로파일이 이런 규칙을 만듭니다).',
    ],
    { codes: ['RuleToOtherLink', 'RuleDropsPackets', 'RouteToOtherLink', 'NoRouteFromAddress'] },
  ),
  NodePathTaken: row(
    'nic',
    false,
    [
      'The node itself reaches Services, the API server or its default gateway by the NIC instead of its own link.',
      '노드가 Service, API 서버 또는 기본 게이트웨이에 자신의 링크가 아니라 이 NIC로 접근합니다.',
    ],
    [
      'Use a subnet and routes that do not contain the destination that the message names, then detach and attach the port.',
      '메시지에 표시된 목적지를 포함하지 않는 서브넷과 라우트를 사용한 다음 포트를 분리하고 다시 연결하십시오.',
    ],
    { codes: ['ServiceByNic', 'EndpointByNic', 'GatewayByNic'] },
  ),
  MACChanged: row(
    'nic',
    true,
    [
      "The link sends with another MAC than the port's; the port security of Neutron drops these packets.",
      '링크가 포트와 다른 MAC으로 송신합니다. 이런 패킷은 Neutron의 포트 보안이 차단합니다.',
    ],
    [
      "Remove the setting of the MAC from the node's files (macaddress, MACAddress, cloned-mac-address), and take the link out of a bond or bridge.",
      '노드의 설정 파일에서 MAC 설정(macaddress, MACAddress, cloned-mac-address)을 제거하고, 본드나 브리지에서 링크를 빼십시오.',
    ],
    { codes: ['SendsWithOtherMac'] },
  ),
  NodeConnectivityLost: row(
    'nic',
    true,
    [
      'With the NIC configured, the node no longer reached the API server; the NIC was rolled back.',
      'NIC를 설정하자 노드가 API 서버에 접근하지 못하여 NIC를 이전 상태로 되돌렸습니다.',
    ],
    [
      'Compare the subnet and routes of the NIC with the address that the message names; /var/lib/multinic/last.txt on the node has the lookups before and after.',
      'NIC의 서브넷과 라우트를 메시지에 표시된 주소와 비교하십시오. 노드의 /var/lib/multinic/last.txt에 변경 전후의 경로 조회 결과가 있습니다.',
    ],
    { codes: ['ServiceUnreachable', 'EndpointUnreachable'] },
  ),
  FilesLeft: row(
    'nic',
    true,
    [
      'The node still has a MultiNIC file of another network manager, or of a removed NIC whose folder is missing: at the next boot the file would configure the NIC.',
      '다른 네트워크 관리 데몬의 MultiNIC 파일, 또는 폴더가 없어 제거하지 못한 NIC의 파일이 노드에 남아 있습니다. 다음 부팅 때 그 파일이 NIC를 설정하게 됩니다.',
    ],
    [
      'Delete the file that the message names, or restore its folder. A deletion that waits for the folder ends with annotation multinic.io/delete-consent and a value that ends with !.',
      '메시지에 표시된 파일을 삭제하거나 폴더를 복구하십시오. 폴더를 기다리는 삭제는 !로 끝나는 값의 애노테이션 multinic.io/delete-consent로 끝낼 수 있습니다.',
    ],
    { codes: ['FolderMissing'] },
  ),
  LeasedByHost: row(
    'nic',
    true,
    [
      'The network manager of the host configured the NIC by DHCP; it is not the primary NIC.',
      '호스트의 네트워크 관리 데몬이 DHCP로 이 NIC를 먼저 설정했습니다. 기본 NIC는 아닙니다.',
    ],
    [
      'Exclude the NIC from the catch-all DHCP configuration of the image and release its lease; with NetworkManager set no-auto-default=*, or give agents the system bus (controller.settings.agentSystemBus).',
      '이미지의 포괄적인 DHCP 설정에서 이 NIC를 제외하고 임대를 해제하십시오. NetworkManager에서는 no-auto-default=*를 설정하거나, 에이전트에 시스템 버스 사용을 허용하십시오(controller.settings.agentSystemBus).',
    ],
    { codes: ['LeasedAddress', 'LeasedRoute', 'FileMatchesNic', 'AdoptionRefused'] },
  ),
  AdoptedAtBoot: row(
    'nic',
    false,
    [
      'The files of the NIC are taken over (existingConfiguration: Adopt); the link keeps its former configuration until the node boots.',
      'NIC의 파일을 인수했습니다(existingConfiguration: Adopt). 링크는 노드를 부팅할 때까지 이전 설정을 유지합니다.',
    ],
    [
      'Reboot the node, or give agents the system bus (controller.settings.agentSystemBus).',
      '노드를 재부팅하거나 에이전트에 시스템 버스 사용을 허용하십시오(controller.settings.agentSystemBus).',
    ],
    { codes: ['BusMissing', 'BusFailed'] },
  ),
  WrongFamily: row(
    'nic',
    false,
    [
      'The agent does not support the network manager of the node, or two network managers are active at once.',
      '에이전트가 노드의 네트워크 관리 데몬을 지원하지 않거나, 네트워크 관리 데몬 두 개가 동시에 동작합니다.',
    ],
    [
      'Use one supported network manager: netplan (with its renderer), systemd-networkd or NetworkManager. The message states what the agent found; nothing was changed.',
      '지원되는 네트워크 관리 데몬 하나만 사용하십시오: netplan(렌더러 포함), systemd-networkd 또는 NetworkManager. 에이전트가 발견한 내용은 메시지에 있으며 아무것도 변경하지 않았습니다.',
    ],
  ),
  AgentTooOld: row(
    'nic',
    false,
    [
      'The agent image is of an earlier release and does not support what the NIC needs (IPv6, or routing main or isolated); the NIC is left unchanged.',
      '에이전트 이미지가 이전 릴리스여서 NIC에 필요한 기능(IPv6, 라우팅 main 또는 isolated)을 지원하지 않습니다. NIC는 현재 상태를 유지합니다.',
    ],
    [
      'Use agent and controller images of the same release; no other action is needed.',
      '같은 릴리스의 에이전트와 컨트롤러 이미지를 사용하십시오. 다른 조치는 필요하지 않습니다.',
    ],
  ),
  InvalidEntry: row(
    'nic',
    false,
    [
      'The entry cannot be used; its NIC is left unchanged.',
      '항목을 사용할 수 없으며 NIC는 현재 상태를 유지합니다.',
    ],
    ['Correct the field that the message names.', '메시지에 표시된 필드를 수정하십시오.'],
    { codes: ['AddressElsewhere', 'MtuTooSmall', 'MtuTooLarge', 'NoIPv6'] },
  ),
  ApplyFailed: row(
    'nic',
    true,
    [
      'The kernel refused a change; the agent restored the previous state.',
      '커널이 변경을 거부하여 이전 상태로 되돌렸습니다.',
    ],
    ['Read the error of the kernel in the message.', '커널 오류가 담긴 메시지를 확인하십시오.'],
  ),
  AddressDuplicate: row(
    'nic',
    true,
    [
      'Another host in the subnet uses an IPv6 address of the NIC (duplicate address detection, RFC 4862); the agent restored the previous state.',
      '같은 서브넷의 다른 호스트가 NIC의 IPv6 주소를 이미 쓰고 있어(중복 주소 검출, RFC 4862) 이전 상태로 되돌렸습니다.',
    ],
    [
      'Find that host: run `ip -6 neigh` on a machine in the subnet, and list the ports of the network in OpenStack.',
      '같은 서브넷의 머신에서 `ip -6 neigh`로, OpenStack에서 네트워크의 포트 목록으로 그 호스트를 찾으십시오.',
    ],
  ),
  VerifyFailed: row(
    'nic',
    true,
    [
      'The kernel does not report the requested configuration; the agent restored the previous state.',
      '커널 상태가 요청과 달라 이전 상태로 되돌렸습니다.',
    ],
    [
      'Find the other program that configures the NIC, and exclude the NIC there.',
      '이 NIC를 설정하는 다른 프로그램을 찾아 그 설정에서 NIC를 제외하십시오.',
    ],
    { codes: ['ArpOff', 'ArpIgnored', 'LocalEntryMissing'] },
  ),
  PersistFailed: row(
    'nic',
    true,
    [
      'The files for the next boot cannot be written; nothing was changed, or the agent restored the previous state.',
      '부팅용 설정 파일을 쓸 수 없습니다. 아무것도 변경하지 않았거나 이전 상태로 되돌렸습니다.',
    ],
    [
      'Check that the folder in the message exists, its permissions and the disk space.',
      '메시지에 표시된 폴더가 있는지, 그 권한과 디스크 공간을 확인하십시오.',
    ],
    { codes: ['FileUnreadable', 'FileUnmanaged', 'FolderMissing'] },
  ),
  RolledBack: row(
    'nic',
    true,
    ['An interrupted change was undone.', '중단된 변경을 되돌렸습니다.'],
    ['Wait for the next attempt.', '다음 시도를 기다려 주십시오.'],
  ),
  RollbackFailed: row(
    'nic',
    true,
    [
      'A change failed and could not be undone completely, or another program started to use the NIC meanwhile. The next agent run finishes the rollback.',
      '변경이 실패했고 완전히 되돌리지 못했거나, 그 사이 다른 프로그램이 NIC를 사용하기 시작했습니다. 다음 에이전트 실행이 롤백을 마무리합니다.',
    ],
    [
      'Check the NIC on the node; the message names what is left.',
      '노드에서 NIC를 확인하십시오. 남은 항목은 메시지에 있습니다.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
