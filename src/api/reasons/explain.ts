import { appendToSpec, multinic, openstack, patchConfig, syncConfig } from './next-step-row.ts';
import { nothing, type ReasonRow, row } from './reason-row.ts';

/** Reasons in explanations only, never in a status. */
export const explainReasons = {
  OverBudget: row(
    'openstackconfig',
    true,
    [
      'Code of RemovalHeld: edits and deletions of the last hour, and those that wait, would remove NICs from more nodes, or more NICs, than an hour allows without consent (3 nodes or 20 % of the nodes of the business cluster, 10 NICs or 20 % of its NICs and of the NICs of the OpenstackConfig; the larger number counts).',
      'RemovalHeld의 코드: 지난 한 시간의 편집과 삭제, 그리고 대기 중인 것을 합하면 동의 없이 한 시간에 허용되는 한도(비즈니스 클러스터 노드의 20 % 또는 노드 3개, 그 NIC와 OpenstackConfig NIC의 각 20 % 또는 NIC 10개 중 큰 값)를 넘습니다.',
    ],
    [
      'If you intended the removal, consent: kubectl multinic allow-removals NAMESPACE/NAME. Otherwise undo the edit; the removal also waits when the hour is over.',
      '의도한 제거이면 kubectl multinic allow-removals NAMESPACE/NAME으로 동의하십시오. 아니면 편집을 되돌리십시오. 한 시간이 지나도 제거는 계속 대기합니다.',
    ],
  ),
  NotCounted: row(
    'node',
    true,
    [
      'Code of RemovalHeld: the removals of the last hour are unknown, because ConfigMap multinic-removals cannot be read or is full. NICs stay until the removals can be counted.',
      'RemovalHeld의 코드: ConfigMap multinic-removals를 읽을 수 없거나 가득 차서 지난 한 시간의 제거를 알 수 없습니다. 제거를 계산할 수 있을 때까지 NIC를 유지합니다.',
    ],
    [
      'Correct the cause that the message names. To remove the NICs at once, consent: kubectl multinic allow-removals NAMESPACE/NAME.',
      '메시지에 표시된 원인을 해결하십시오. NIC를 바로 제거하려면 kubectl multinic allow-removals NAMESPACE/NAME으로 동의하십시오.',
    ],
  ),
  SideEffect: row(
    'openstackconfig',
    true,
    [
      'Code of RemovalHeld: the NICs would be removed because of another change, such as a restored or re-created object, a changed business cluster, or a shifted instance id; no edit names them, and OpenStack still has their ports.',
      'RemovalHeld의 코드: 복원하거나 다시 만든 객체, 변경된 비즈니스 클러스터, 밀린 instance id와 같은 다른 변경 때문에 NIC가 제거됩니다. 이 NIC를 지정한 편집이 없고 OpenStack에는 포트가 아직 있습니다.',
    ],
    [
      'Correct the change that the message names, for example apply the current object after a restore. To remove the NICs, consent: kubectl multinic allow-removals NAMESPACE/NAME.',
      '메시지에 나온 변경을 바로잡으십시오. 예를 들어 복원한 뒤에는 최신 객체를 다시 적용하십시오. NIC를 제거하려면 kubectl multinic allow-removals NAMESPACE/NAME으로 동의하십시오.',
    ],
  ),
  NotKnownYet: row(
    'node',
    true,
    [
      'Code of RemovalHeld: no agent has reported yet which NICs the node has for this object, so the NICs stay.',
      'RemovalHeld의 코드: 이 객체에 대해 노드에 어떤 NIC가 있는지 보고한 에이전트가 아직 없어 NIC를 유지합니다.',
    ],
    [
      'Wait for the agent run that reads the node. If none starts, find the cause: kubectl multinic why NODE.',
      '노드를 읽는 에이전트 실행을 기다리십시오. 시작되지 않으면 kubectl multinic why NODE로 원인을 확인하십시오.',
    ],
  ),
  PortNotFound: row(
    'openstackconfig',
    false,
    [
      'No account of an OpenstackConfig sees a port with this id, MAC address or address.',
      '이 ID, MAC 주소 또는 주소를 가진 포트를 어떤 OpenstackConfig의 계정으로도 조회할 수 없습니다.',
    ],
    [
      'Check the id in OpenStack, and the project of the OpenstackConfig.',
      'OpenStack에서 ID를 확인하고 OpenstackConfig의 프로젝트를 확인하십시오.',
    ],
  ),
  PortNotAttached: row(
    'openstackconfig',
    false,
    ['The port is attached to no server.', '포트가 서버에 연결되어 있지 않습니다.'],
    [
      'Attach the port with Nova: openstack server add port SERVER PORT.',
      'openstack server add port SERVER PORT로 Nova를 통해 포트를 연결하십시오.',
    ],
  ),
  ServerNotSelected: row(
    'openstackconfig',
    false,
    [
      "No OpenstackConfig selects both the port's server and its subnet.",
      '포트의 서버와 서브넷을 함께 선택하는 OpenstackConfig가 없습니다.',
    ],
    [
      'Add the server to spec.vmNames, or set the metadata or tags that spec.vmSelector requires.',
      '서버를 spec.vmNames에 추가하거나 spec.vmSelector가 요구하는 메타데이터 또는 태그를 설정하십시오.',
    ],
    {
      nextStep: [
        { commands: [appendToSpec('vmNames', '{listedServer}')] },
        { commands: [patchConfig({ spec: { vmNames: ['{firstServer}'] } })] },
        { commands: [openstack('server', 'set', '{selectorOptions}', '{server}')] },
      ],
    },
  ),
  NotSyncedYet: row(
    'openstackconfig',
    true,
    [
      'No sync of the OpenstackConfig has decided about this port as it is now.',
      '현재 상태의 포트에 대해 아직 OpenstackConfig의 동기화가 수행되지 않았습니다.',
    ],
    [
      'Wait for the next sync, or request one: kubectl multinic sync.',
      '다음 동기화를 기다리거나 kubectl multinic sync로 요청하십시오.',
    ],
    { nextStep: syncConfig },
  ),
  NodeAddressIsNic: row(
    'nic',
    false,
    [
      'An InternalIP of the Kubernetes Node is an address of a NIC; kubectl logs and exec may fail.',
      'Kubernetes Node의 InternalIP가 NIC의 주소입니다. kubectl logs와 exec가 실패할 수 있습니다.',
    ],
    [
      'Set internal-network-name in the configuration of the OpenStack cloud controller manager.',
      'OpenStack cloud controller manager 설정에서 internal-network-name을 지정하십시오.',
    ],
  ),
  PortDownButUp: row(
    'nic',
    false,
    [
      'Neutron reports the port DOWN, but its link on the node has a carrier.',
      'Neutron은 포트를 DOWN으로 보고하지만 노드의 링크에는 캐리어가 있습니다.',
    ],
    [
      'Disable and enable the port, so that Neutron binds it again.',
      '포트를 비활성화한 뒤 다시 활성화하여 Neutron이 다시 바인딩하게 하십시오.',
    ],
    {
      nextStep: [
        {
          commands: [
            openstack('port', 'set', '--disable', '{port}'),
            openstack('port', 'set', '--enable', '{port}'),
          ],
        },
      ],
    },
  ),
  PortAdminDown: row(
    'nic',
    false,
    [
      'The port is administratively down (admin_state_up is false) and carries no traffic.',
      '포트가 관리상 비활성(admin_state_up이 false)이어서 트래픽이 흐르지 않습니다.',
    ],
    [
      'Enable the port: openstack port set --enable.',
      'openstack port set --enable로 활성화하십시오.',
    ],
    { nextStep: [{ commands: [openstack('port', 'set', '--enable', '{port}')] }] },
  ),
  MtuDiffers: row(
    'nic',
    true,
    [
      'NICs in one network have different MTUs; large packets between them are lost.',
      '같은 네트워크의 NIC들이 서로 다른 MTU를 사용하여 큰 패킷이 유실됩니다.',
    ],
    [
      'Sync the OpenstackConfig, then compare the node: kubectl multinic diff.',
      'OpenstackConfig를 동기화한 다음 kubectl multinic diff로 노드를 비교하십시오.',
    ],
    { nextStep: [{ commands: [multinic('diff', '{node}')] }] },
  ),
  NotPersistent: row(
    'nic',
    true,
    [
      'The NIC is configured, but a boot will not restore it.',
      'NIC가 설정되었지만 부팅 후에는 복원되지 않습니다.',
    ],
    [
      'Correct the rule or setting on the node that the message names.',
      '메시지에 표시된 노드의 규칙 또는 설정을 수정하십시오.',
    ],
  ),
  ClusterShared: row(
    'openstackconfig',
    false,
    [
      'OpenstackConfigs of several namespaces deliver to one business cluster, and the operator lets every namespace do so.',
      '여러 네임스페이스의 OpenstackConfig가 하나의 비즈니스 클러스터에 전달하고 있으며, 오퍼레이터는 모든 네임스페이스에 이를 허용합니다.',
    ],
    [
      "Set the operator's NAMESPACE_CLUSTERS (chart value operator.settings.namespaceClusters) to the business clusters of each namespace.",
      '오퍼레이터의 NAMESPACE_CLUSTERS(차트 값 operator.settings.namespaceClusters)에 네임스페이스별 비즈니스 클러스터를 설정하십시오.',
    ],
  ),
  NotInstalled: row(
    'part',
    false,
    [
      'The management cluster has neither a Deployment nor a Lease of the operator.',
      '관리 클러스터에 오퍼레이터의 Deployment와 Lease가 모두 없습니다.',
    ],
    [
      'Install MultiNIC with docs/guides/install.md. If it is installed, set --operator-namespace to its namespace, or --context to its cluster.',
      'docs/guides/install.ko.md에 따라 MultiNIC를 설치하십시오. 이미 설치했다면 --operator-namespace로 네임스페이스를, 또는 --context로 클러스터를 지정하십시오.',
    ],
  ),
  SeveralOperators: row(
    'part',
    true,
    [
      'The management cluster has operators in two namespaces.',
      '관리 클러스터의 네임스페이스 두 곳에 오퍼레이터가 있습니다.',
    ],
    [
      'Uninstall the operator that you do not use: helm uninstall in its namespace. To examine the other one, set --operator-namespace.',
      '사용하지 않는 오퍼레이터를 해당 네임스페이스에서 helm uninstall로 제거하십시오. 다른 오퍼레이터를 점검하려면 --operator-namespace를 지정하십시오.',
    ],
  ),
  OutsideCluster: row(
    'part',
    false,
    [
      'The operator is a process outside the management cluster, such as with make run.',
      '오퍼레이터가 make run과 같이 관리 클러스터 밖의 프로세스로 실행됩니다.',
    ],
    nothing,
  ),
  PartNotReady: row(
    'part',
    true,
    [
      'A part of MultiNIC does not run as it should.',
      'MultiNIC의 구성 요소가 정상적으로 실행되지 않습니다.',
    ],
    [
      'Look at its Pods: events, logs and readiness.',
      '해당 Pod의 이벤트, 로그, 준비 상태를 확인하십시오.',
    ],
    {
      nextStep: [
        { commands: [['kubectl', '-n', '{partNamespace}', 'describe', 'pod', '{waitingPod}']] },
        { commands: [['kubectl', '-n', '{partNamespace}', 'get', 'pods']] },
      ],
    },
  ),
  VersionSkew: row(
    'part',
    false,
    [
      'Parts of different versions run together.',
      '서로 다른 버전의 구성 요소가 함께 실행되고 있습니다.',
    ],
    [
      'Upgrade the older part; docs/guides/upgrade.md has the order.',
      '이전 버전의 구성 요소를 업그레이드하십시오. 순서는 docs/guides/upgrade.ko.md에 있습니다.',
    ],
  ),
} as const satisfies Record<string, ReasonRow>;
