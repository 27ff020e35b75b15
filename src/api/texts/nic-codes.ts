import type { NicCode } from '../nic-codes.ts';
import type { Wording } from './text.ts';

/** Explanations by code in a NIC's result; placeholders are the values in `args`. */
export const nicCodeTexts = {
  RuleToOtherLink: {
    en: 'rule {priority} ({selector}) sends packets from the address of the NIC by {link}',
    ko: '규칙 {priority}({selector})가 NIC 주소에서 나가는 패킷을 {link}로 보냅니다',
  },
  RuleDropsPackets: {
    en: 'rule {priority} ({selector}) drops packets from the address of the NIC',
    ko: '규칙 {priority}({selector})가 NIC 주소에서 나가는 패킷을 버립니다',
  },
  RouteToOtherLink: {
    en: 'a route in table {table} sends packets from the address of the NIC to {to} by {link}',
    ko: '테이블 {table}의 라우트가 NIC 주소에서 {to}로 가는 패킷을 {link}로 보냅니다',
  },
  NoRouteFromAddress: {
    en: 'no route leads from {from} to {to}',
    ko: '{from}에서 {to}로 가는 라우트가 없습니다',
  },
  ServiceByNic: {
    en: 'the node reaches the Service address of the API server {to} by {link}',
    ko: '노드가 API 서버의 Service 주소 {to}에 {link}로 접근합니다',
  },
  EndpointByNic: {
    en: 'the node reaches the API server at {to} by {link}',
    ko: '노드가 API 서버 {to}에 {link}로 접근합니다',
  },
  GatewayByNic: {
    en: 'the node reaches the default gateway {to} by {link}',
    ko: '노드가 기본 게이트웨이 {to}에 {link}로 접근합니다',
  },
  ArpOff: {
    en: 'link {link} has the flag NOARP',
    ko: '링크 {link}에 NOARP 플래그가 있어 ARP에 응답하지 않습니다',
  },
  ArpIgnored: {
    en: '{setting} is 8',
    ko: '{setting} 값이 8이어서 ARP에 응답하지 않습니다',
  },
  LocalEntryMissing: {
    en: 'the local table has no entry for {address}',
    ko: 'local 테이블에 {address} 항목이 없어 커널이 이 주소로 오는 패킷을 버립니다',
  },
  ServiceUnreachable: {
    en: 'the node no longer reached the Service address of the API server {address}, port {port}',
    ko: '노드가 API 서버의 Service 주소 {address}, 포트 {port}에 더 이상 접근하지 못했습니다',
  },
  EndpointUnreachable: {
    en: 'the node no longer reached the API server at {address}, port {port}',
    ko: '노드가 API 서버 {address}, 포트 {port}에 더 이상 접근하지 못했습니다',
  },
  SendsWithOtherMac: {
    en: 'link {link} sends as {mac}',
    ko: '링크 {link}가 MAC {mac}로 송신합니다',
  },
  NodeAddress: {
    en: "link {link} has the node's address {address}",
    ko: '링크 {link}에 노드의 주소 {address}가 있습니다',
  },
  NodeDefaultRoute: {
    en: 'link {link} has a default route in table {table}',
    ko: '링크 {link}에 테이블 {table}의 기본 라우트가 있습니다',
  },
  LeasedAddress: {
    en: 'DHCP or a router advertisement set address {address} of link {link}',
    ko: 'DHCP 또는 라우터 광고가 링크 {link}의 주소 {address}를 설정했습니다',
  },
  LeasedRoute: {
    en: 'DHCP or a router advertisement set the route to {to} of link {link}',
    ko: 'DHCP 또는 라우터 광고가 링크 {link}의 {to} 라우트를 설정했습니다',
  },
  NameUnsupported: {
    en: 'link name {link} has unsupported characters',
    ko: '링크 이름 {link}에 지원하지 않는 문자가 있습니다',
  },
  LinkHasMaster: {
    en: 'link {link} is a member of {master}',
    ko: '링크 {link}가 {master}의 멤버입니다',
  },
  LinkHasUpper: {
    en: 'link {link} is the parent link of {upper}',
    ko: '링크 {link}가 {upper}의 상위 링크입니다',
  },
  ForeignAddress: {
    en: 'link {link} has the foreign address {address}',
    ko: '링크 {link}에 MultiNIC이 관리하지 않는 주소 {address}가 있습니다',
  },
  ForeignRoute: {
    en: 'link {link} has a foreign route to {to} in table {table}',
    ko: '링크 {link}에 MultiNIC이 관리하지 않는 {to} 라우트가 테이블 {table}에 있습니다',
  },
  ForeignReceiver: {
    en: 'link {link} also receives frames for MAC {mac}, probably of a macvlan in a Pod',
    ko: '링크 {link}가 MAC {mac}(Pod의 macvlan으로 보임)의 프레임도 수신합니다',
  },
  NameTaken: {
    en: 'the name {name} is in use by the link with MAC {mac}',
    ko: 'MAC {mac}인 링크가 이름 {name}을 사용 중입니다',
  },
  AddressElsewhere: {
    en: 'address {address} is already on link {link}',
    ko: '주소 {address}가 이미 링크 {link}에 있습니다',
  },
  FileConfiguresNic: {
    en: '{path} configures the NIC',
    ko: '{path} 파일이 이 NIC를 설정합니다',
  },
  FileMatchesNic: {
    en: '{path} configures every NIC named {pattern}',
    ko: '{path} 파일이 이름이 {pattern}인 모든 NIC를 설정합니다',
  },
  FileUnreadable: {
    en: '{path} cannot be read',
    ko: '{path} 파일을 읽을 수 없습니다',
  },
  FileUnmanaged: {
    en: '{path} is not managed by MultiNIC',
    ko: '{path}는 MultiNIC이 관리하지 않는 파일입니다',
  },
  FolderMissing: {
    en: 'the folder of the files is missing on the node',
    ko: '노드에 설정 파일의 폴더가 없습니다',
  },
  MtuTooSmall: {
    en: 'mtu {mtu}: IPv6 needs at least {min}',
    ko: 'mtu {mtu}: IPv6에는 최소 {min}이 필요합니다',
  },
  MtuTooLarge: {
    en: 'mtu {mtu} exceeds {max}, the maximum of the link',
    ko: 'mtu {mtu}가 링크의 최댓값 {max}를 넘습니다',
  },
  NoIPv6: {
    en: 'the kernel of the node has no IPv6',
    ko: '노드의 커널이 IPv6를 지원하지 않습니다',
  },
  TableHasForeignRoute: {
    en: 'table {table} has a foreign route to {to}',
    ko: '테이블 {table}에 MultiNIC이 관리하지 않는 {to} 라우트가 있습니다',
  },
  PriorityTaken: {
    en: 'foreign rule {priority} from {from} uses the priority or table of the NIC',
    ko: 'MultiNIC이 관리하지 않는 규칙 {priority}(from {from})이 이 NIC의 우선순위나 테이블을 사용합니다',
  },
  OverlapsNodeAddress: {
    en: "the node's address {address} is in the subnet of the NIC",
    ko: '노드의 주소 {address}가 NIC의 서브넷에 있습니다',
  },
  OverlapsNetwork: {
    en: 'the subnet of the NIC overlaps {network} of {of}',
    ko: 'NIC의 서브넷이 {of}의 {network}와 겹칩니다',
  },
  OverlapsClusterNetwork: {
    en: 'the subnet or a route of the NIC overlaps {network}, a network of {use}',
    ko: 'NIC의 서브넷 또는 라우트가 {use} 네트워크 {network}와 겹칩니다',
  },
  NotNamed: {
    en: 'the NIC is not requested, and not named for removal',
    ko: 'NIC가 요청되지 않았지만 제거 대상으로도 지정되지 않았습니다',
  },
  LinkPresent: {
    en: 'link {link} is still there; removal is permitted only once no link has this MAC',
    ko: '링크 {link}가 아직 있습니다. 이 MAC을 가진 링크가 없어야 제거할 수 있습니다',
  },
  HeldNicHas: {
    en: 'NIC {mac}, whose removal is held, uses the index, name, address or file',
    ko: '제거가 보류된 NIC {mac}가 인덱스, 이름, 주소 또는 파일을 사용 중입니다',
  },
  AdoptionRefused: {
    en: 'the configuration in {path} cannot be adopted: {cause}',
    ko: '{path}의 설정을 인수할 수 없습니다: {cause}',
  },
  BusMissing: {
    en: 'the agent has no system bus; the files are adopted and take effect when the node boots',
    ko: '에이전트가 시스템 버스를 사용할 수 없습니다. 파일은 인수했으며 노드를 부팅하면 적용됩니다',
  },
  BusFailed: {
    en: 'the network manager did not take the files: {cause}; they take effect when the node boots',
    ko: '네트워크 관리 데몬이 파일을 읽어 들이지 않았습니다: {cause}. 노드를 부팅하면 적용됩니다',
  },
} as const satisfies Readonly<Record<NicCode, Wording>>;

/** Explanation of a case with the file or stanza behind it. */
export const nicSourceText = { en: '{text} ({source})', ko: '{text}({source})' } as const;
