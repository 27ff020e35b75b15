import {
  appendToSpec,
  listViolaPods,
  multinic,
  openstack,
  patchConfig,
  syncConfig,
} from './next-step-row.ts';
import { nothing, row, type StatusReasonRow } from './reason-row.ts';

/** Reasons for an OpenstackConfig's ports, and for planned NICs that are not configured. */
export const portReasons = {
  PortTooOld: row(
    'openstackconfig',
    false,
    [
      'A port was created before the baseline of spec.settings.portBaseline, or Neutron reports no creation time; it does not become a NIC.',
      '포트가 spec.settings.portBaseline의 기준 시각보다 먼저 생성되었거나 Neutron이 생성 시각을 제공하지 않아 NIC로 만들지 않습니다.',
    ],
    [
      'To use it, set spec.settings.portBaseline to All or to an earlier time.',
      '사용하려면 spec.settings.portBaseline을 All 또는 더 이른 시각으로 설정하십시오.',
    ],
    {
      alerts: [],
      step: 'Filter',
      nextStep: [
        {
          text: {
            en: 'accept ports that are older than the OpenstackConfig:',
            ko: 'OpenstackConfig보다 먼저 생성된 포트도 사용하도록 설정하십시오.',
          },
          commands: [patchConfig({ spec: { settings: { portBaseline: 'All' } } })],
          preview: [multinic('plan', '{config}', '--set', 'portBaseline=All')],
        },
      ],
    },
  ),
  PortStatus: row(
    'openstackconfig',
    true,
    [
      'The status of a port is not in spec.settings.openstackPortAllowedStatuses; the port does not become a NIC.',
      '포트의 상태가 spec.settings.openstackPortAllowedStatuses에 없어 NIC로 만들지 않습니다.',
    ],
    [
      'Wait until the status of the port changes, or extend spec.settings.openstackPortAllowedStatuses.',
      '포트 상태가 바뀌기를 기다리거나 spec.settings.openstackPortAllowedStatuses를 확장하십시오.',
    ],
    { alerts: [], step: 'Filter', nextStep: [{ commands: [openstack('port', 'show', '{port}')] }] },
  ),
  SubnetNotSelected: row(
    'openstackconfig',
    false,
    [
      'No address of a port is in a selected subnet; the port does not become a NIC.',
      '포트의 주소가 선택한 서브넷에 없어 NIC로 만들지 않습니다.',
    ],
    [
      'To use it, add its subnet to spec.subnetIDs.',
      '사용하려면 해당 서브넷을 spec.subnetIDs에 추가하십시오.',
    ],
    {
      alerts: [],
      step: 'Selection',
      nextStep: [
        { commands: [appendToSpec('subnetIDs', '{listedSubnet}')] },
        { commands: [patchConfig({ spec: { subnetIDs: ['{singleSubnet}', '{addedSubnet}'] } })] },
        { commands: [patchConfig({ spec: { subnetIDs: ['{firstSubnet}'] } })] },
      ],
    },
  ),
  FamilyNotWanted: row(
    'openstackconfig',
    false,
    [
      'The address of a port in a selected subnet is of a family that spec.settings.addressFamilies does not list; the port does not become a NIC.',
      '선택한 서브넷에 있는 포트 주소의 주소 체계가 spec.settings.addressFamilies에 없어 NIC로 만들지 않습니다.',
    ],
    [
      'To use it, add the family to spec.settings.addressFamilies.',
      '사용하려면 spec.settings.addressFamilies에 해당 주소 체계를 추가하십시오.',
    ],
    {
      alerts: [],
      step: 'Filter',
      nextStep: [
        { commands: [patchConfig({ spec: { settings: { addressFamilies: ['IPv4', 'IPv6'] } } })] },
      ],
    },
  ),
  PortWithoutAddress: row(
    'openstackconfig',
    true,
    [
      'A port has no address; it does not become a NIC.',
      '포트에 주소가 없어 NIC로 만들지 않습니다.',
    ],
    [
      'Give the port a fixed IP in a selected subnet.',
      '선택한 서브넷의 고정 IP를 포트에 할당하십시오.',
    ],
    {
      alerts: [],
      step: 'Filter',
      nextStep: [
        { commands: [openstack('port', 'set', '--fixed-ip', 'subnet={specSubnet}', '{port}')] },
      ],
    },
  ),
  PortNotPlugged: row(
    'openstackconfig',
    true,
    [
      'The device_id of a port is the server, but Nova did not plug the port, such as a VIP or a trunk subport. It does not become a NIC; an existing NIC stays.',
      '포트의 device_id가 서버이지만 VIP나 트렁크 서브포트처럼 Nova가 연결한 포트가 아닙니다. NIC로 만들지 않으며 이미 있는 NIC는 유지합니다.',
    ],
    [
      'To use it, attach the port with Nova: openstack server add port.',
      '사용하려면 openstack server add port로 Nova를 통해 포트를 연결하십시오.',
    ],
    {
      alerts: [],
      step: 'Neutron',
      nextStep: [{ commands: [openstack('port', 'show', '{port}')] }],
    },
  ),
  NetworkUnread: row(
    'openstackconfig',
    true,
    [
      'A network or subnet of a port could not be read, or has no MTU; the port is not a NIC yet.',
      '포트의 네트워크 또는 서브넷을 조회하지 못했거나 MTU가 없어 아직 NIC로 만들지 않습니다.',
    ],
    [
      'Check Neutron and the rights of the account; the operator retries.',
      'Neutron 상태와 계정 권한을 확인하십시오. 자동으로 재시도합니다.',
    ],
    { alerts: [], step: 'Filter' },
  ),
  NoPorts: row(
    'openstackconfig',
    true,
    [
      'No port of the server, or of any selected server, becomes a NIC.',
      '서버 또는 선택한 모든 서버에 NIC가 될 포트가 없습니다.',
    ],
    [
      'Attach a port of a selected subnet; status.unusedPorts states why other ports do not become NICs.',
      '선택한 서브넷의 포트를 연결하십시오. 다른 포트가 NIC가 아닌 이유는 status.unusedPorts에 있습니다.',
    ],
    { alerts: [] },
  ),
  NICsConfigured: row(
    'openstackconfig',
    false,
    ['Every planned NIC is configured on its node.', '계획한 모든 NIC가 노드에 설정되었습니다.'],
    nothing,
    { alerts: [] },
  ),
  NICsNotConfigured: row(
    'openstackconfig',
    true,
    [
      'Planned NICs are not configured on their nodes.',
      '계획한 NIC 중 노드에 설정되지 않은 것이 있습니다.',
    ],
    [
      'Check the MultiNicNodeConfig of the node that the message names.',
      '메시지에 있는 노드의 MultiNicNodeConfig를 확인하십시오.',
    ],
    { alerts: [] },
  ),
  NoNodeStatus: row(
    'openstackconfig',
    true,
    [
      'The business cluster reports no status of a node, so it is unknown whether its NICs are configured.',
      '비즈니스 클러스터가 노드의 상태를 제공하지 않아 NIC 설정 여부를 알 수 없습니다.',
    ],
    [
      'Check that the controller runs in the business cluster.',
      '비즈니스 클러스터에서 컨트롤러가 실행 중인지 확인하십시오.',
    ],
    { alerts: [] },
  ),
  NodesNotRead: row(
    'openstackconfig',
    true,
    [
      'The MultiNicNodeConfigs of the business cluster were not read for almost three minutes, so their present state is unknown. The message names the last read.',
      '비즈니스 클러스터의 MultiNicNodeConfig를 약 3분 동안 조회하지 못해 현재 상태를 알 수 없습니다. 마지막 조회 시각은 메시지에 있습니다.',
    ],
    [
      'Check that Viola runs, and that Viola reaches the business cluster.',
      'Viola가 실행 중인지, Viola가 비즈니스 클러스터에 연결되는지 확인하십시오.',
    ],
    { alerts: [], nextStep: listViolaPods },
  ),
  NodeConfigChanged: row(
    'openstackconfig',
    true,
    [
      'A MultiNicNodeConfig was changed or deleted in the business cluster after the last sync.',
      '마지막 동기화 이후 비즈니스 클러스터에서 MultiNicNodeConfig가 변경되거나 삭제되었습니다.',
    ],
    [
      'Nothing while syncs run by themselves: the next sync delivers the planned content again. In other trigger modes, and to end a pause, start a sync.',
      '동기화가 자동으로 실행되면 조치가 필요 없습니다. 다음 동기화가 계획한 내용을 다시 전달합니다. 다른 트리거 모드이거나 일시 중지된 경우에는 동기화를 시작하십시오.',
    ],
    { alerts: [], nextStep: syncConfig },
  ),
  StatusUnsupported: row(
    'openstackconfig',
    false,
    [
      'A legacy Viola reports no status of nodes, so it is unknown whether their NICs are configured.',
      'legacy Viola는 노드의 상태를 제공하지 않아 NIC 설정 여부를 알 수 없습니다.',
    ],
    [
      'Read the MultiNicNodeConfigs in the business cluster, or use a native Viola.',
      '비즈니스 클러스터에서 MultiNicNodeConfig를 확인하거나 native Viola를 사용하십시오.',
    ],
    { alerts: [] },
  ),
  WaitingForName: row(
    'openstackconfig',
    true,
    [
      'A port waits until the node has released the name of a former NIC.',
      '노드가 이전 NIC의 이름을 반환할 때까지 포트가 대기 중입니다.',
    ],
    [
      'Nothing at first. If the reason stays, check the MultiNicNodeConfig of the node.',
      '처음에는 조치가 필요 없습니다. 계속되면 노드의 MultiNicNodeConfig를 확인하십시오.',
    ],
    { alerts: [], step: 'Assignment' },
  ),
} as const satisfies Record<string, StatusReasonRow>;
