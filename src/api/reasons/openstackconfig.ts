import { checkReasons } from './checks.ts';
import { portReasons } from './port.ts';
import { nothing, type ReasonRow, row } from './reason-row.ts';

/** Reasons for one OpenstackConfig. */
export const openstackConfigReasons = {
  Synced: row(
    'openstackconfig',
    false,
    ['Changed nodes were delivered.', '변경된 노드가 전달되었습니다.'],
    nothing,
  ),
  NoChange: row(
    'openstackconfig',
    false,
    ['Nothing had changed.', '변경 사항이 없습니다.'],
    nothing,
  ),
  Healthy: row(
    'openstackconfig',
    false,
    ['The last sync worked.', '마지막 동기화가 성공했습니다.'],
    nothing,
  ),
  Error: row(
    'openstackconfig',
    true,
    [
      'The last sync failed; Ready has the reason.',
      '마지막 동기화가 실패했습니다. 사유는 Ready에 있습니다.',
    ],
    ['Look at the condition Ready.', 'Ready 조건을 확인하십시오.'],
  ),
  ConfigError: row(
    'openstackconfig',
    false,
    ['A field or setting cannot be used.', '필드 또는 설정을 사용할 수 없습니다.'],
    ['Correct the field that the message names.', '메시지에 표시된 필드를 수정하십시오.'],
  ),
  ContrabassError: row(
    'openstackconfig',
    true,
    [
      'Contrabass did not hand out the provider, or its password could not be decrypted.',
      'Contrabass에서 공급자를 조회하지 못했거나 암호를 복호화하지 못했습니다.',
    ],
    [
      'Check openstackProviderID, endpoint and encryption key.',
      'openstackProviderID, 엔드포인트, 암호화 키를 확인하십시오.',
    ],
  ),
  KeystoneError: row(
    'openstackconfig',
    true,
    ['Keystone gave no token.', 'Keystone 토큰을 발급받지 못했습니다.'],
    [
      'Check URL, account, password and projectID. A refused password is tried again once an hour, at once when it changes or for a new value of the annotation multinic.io/reconcile-at.',
      'URL, 계정, 암호, projectID를 확인하십시오. 거부된 암호는 한 시간에 한 번만 다시 시도하며, 암호가 바뀌거나 주석 multinic.io/reconcile-at에 새 값을 설정하면 즉시 다시 시도합니다.',
    ],
  ),
  NeutronEndpointError: row(
    'openstackconfig',
    true,
    [
      'The catalog has no network endpoint for the wanted interface and region.',
      '카탈로그에 원하는 네트워크 엔드포인트가 없습니다.',
    ],
    [
      'Check interface and region, or set openstackNeutronEndpoint.',
      '인터페이스와 리전을 확인하거나 openstackNeutronEndpoint를 지정하십시오.',
    ],
  ),
  NeutronPortError: row(
    'openstackconfig',
    true,
    [
      'The ports could not be read completely; nothing was removed.',
      '포트를 완전히 조회하지 못했으며 아무것도 제거하지 않았습니다.',
    ],
    ['Look at Neutron; it is tried again.', 'Neutron 상태를 확인하십시오. 자동으로 재시도합니다.'],
  ),
  NeutronSubnetError: row(
    'openstackconfig',
    true,
    ['A subnet could not be read.', '서브넷을 조회하지 못했습니다.'],
    ['Check the id and the rights of the account.', 'ID와 계정 권한을 확인하십시오.'],
  ),
  SubnetRequired: row(
    'openstackconfig',
    false,
    ['No subnet is selected.', '서브넷이 지정되지 않았습니다.'],
    [
      'Set spec.subnetIDs, subnetID or subnetName.',
      'spec.subnetIDs, subnetID 또는 subnetName을 지정하십시오.',
    ],
  ),
  SubnetNotFound: row(
    'openstackconfig',
    true,
    ['No subnet has this name or id.', '해당 이름 또는 ID의 서브넷이 없습니다.'],
    [
      'Correct it, or grant the account access to it.',
      '값을 수정하거나 계정에 접근 권한을 부여하십시오.',
    ],
  ),
  SubnetNotUnique: row(
    'openstackconfig',
    true,
    ['Several subnets have this name.', '같은 이름의 서브넷이 여러 개 있습니다.'],
    ['Use spec.subnetIDs.', 'spec.subnetIDs를 사용하십시오.'],
  ),
  ViolaPostError: row(
    'openstackconfig',
    true,
    ['Viola did not accept every node.', 'Viola가 일부 노드를 수락하지 않았습니다.'],
    [
      'Check the business cluster, its registration and the token; the message names the nodes.',
      '비즈 클러스터와 등록 정보, 토큰을 확인하십시오. 노드는 메시지에 있습니다.',
    ],
  ),
  NovaServerError: row(
    'openstackconfig',
    true,
    [
      'Servers could not be read; known names are kept.',
      '서버를 조회하지 못했으며 알려진 이름을 유지합니다.',
    ],
    ['Look at Nova; it is tried again.', 'Nova 상태를 확인하십시오. 자동으로 재시도합니다.'],
  ),
  ServerNotFound: row(
    'openstackconfig',
    true,
    [
      'A server of vmNames does not exist in the project, or none carries what vmSelector asks for.',
      'vmNames의 서버가 프로젝트에 없거나 vmSelector에 맞는 서버가 없습니다.',
    ],
    [
      'Correct spec.vmNames or spec.vmSelector.',
      'spec.vmNames 또는 spec.vmSelector를 수정하십시오.',
    ],
  ),
  ServerNotUnique: row(
    'openstackconfig',
    true,
    [
      'Several servers of the project have a name of vmNames; no server is taken out meanwhile.',
      'vmNames의 이름을 가진 서버가 프로젝트에 여러 대이며, 그동안 어떤 서버도 제외하지 않습니다.',
    ],
    [
      'Name the server by its id, or rename the other ones.',
      '서버를 ID로 지정하거나 다른 서버의 이름을 바꾸십시오.',
    ],
  ),
  InterfaceLimitExceeded: row(
    'openstackconfig',
    true,
    [
      'A server has more ports than NICs are allowed; the rest is not delivered.',
      '허용된 NIC 수보다 포트가 많아 나머지는 전달되지 않습니다.',
    ],
    ['Detach ports, or narrow the subnets.', '포트를 분리하거나 서브넷 범위를 줄이십시오.'],
  ),
  NameConflict: row(
    'openstackconfig',
    true,
    [
      'Two servers or two OpenstackConfigs claim one node; it stays as it is.',
      '두 서버 또는 두 OpenstackConfig가 한 노드를 사용하려 하여 현재 상태를 유지합니다.',
    ],
    [
      'Rename a server, or take it out of one of them.',
      '서버 이름을 변경하거나 한쪽에서 제외하십시오.',
    ],
  ),
  PolicyDenied: row(
    'openstackconfig',
    false,
    [
      "The operator's policy does not allow this endpoint, provider or namespace, or wants its certificate verified. Nothing is asked, and NICs stay as they are.",
      '운영 정책에서 허용하지 않는 엔드포인트, 프로바이더 또는 네임스페이스이거나 인증서 검증이 필요합니다. 아무것도 호출하지 않으며 NIC는 그대로 유지됩니다.',
    ],
    [
      'Use what is allowed, or extend the setting that the message names.',
      '허용된 것을 사용하거나 메시지에 있는 설정을 확장하십시오.',
    ],
  ),
  ProviderUnavailable: row(
    'openstackconfig',
    true,
    [
      'The cloud does not answer; everything stays as it is.',
      '클라우드가 응답하지 않아 모든 상태를 유지합니다.',
    ],
    [
      'Look at the cloud; it is tried again.',
      '클라우드 상태를 확인하십시오. 자동으로 재시도합니다.',
    ],
  ),
  RemovalUnconfirmed: row(
    'openstackconfig',
    true,
    [
      'A port is not seen, or has no address in a selected subnet, without evidence that it is gone; its NIC stays.',
      '포트가 보이지 않거나 선택한 서브넷의 주소가 없지만 제거 증거가 없어 NIC를 유지합니다.',
    ],
    [
      'Nothing at first, it is asked again at every poll. If it lasts, check the roles and the project of the account; to remove the NIC, detach the port or take its subnet or server out of the OpenstackConfig.',
      '처음에는 조치가 필요 없으며 매 폴링마다 다시 확인합니다. 계속되면 계정의 역할과 프로젝트를 확인하십시오. NIC를 제거하려면 포트를 분리하거나 OpenstackConfig에서 해당 서브넷 또는 서버를 빼십시오.',
    ],
  ),
  RemovalHeld: row(
    'openstackconfig',
    true,
    [
      'Unusually many NICs would be removed at once, some would be removed as a side effect of something else, or the object is deleted with its namespace, its CRD or many others; the NICs stay.',
      '비정상적으로 많은 NIC가 한 번에 제거될 예정이거나, 다른 변경에 따라 부수적으로 제거될 예정이거나, 객체가 네임스페이스, CRD 또는 다른 여러 객체와 함께 삭제되어 NIC 제거를 보류합니다.',
    ],
    [
      'If it is right, set the annotation multinic.io/allow-removals to a new value; if not, undo the edit, or save the specs of what is deleted. To let a deleted object go and keep its NICs, take its finalizer off (multinic.example.com/cleanup, or multinic.io/cleanup of a node config).',
      '의도한 변경이면 multinic.io/allow-removals 어노테이션에 새 값을 지정하고, 아니라면 변경을 되돌리거나 삭제된 객체의 스펙을 저장하십시오. 삭제된 객체의 NIC를 유지하려면 파이널라이저(multinic.example.com/cleanup, 노드 설정은 multinic.io/cleanup)를 떼십시오.',
    ],
  ),
  InvalidNodeName: row(
    'openstackconfig',
    true,
    [
      'The name of a server cannot be the name of a Kubernetes node.',
      '서버 이름을 Kubernetes 노드 이름으로 사용할 수 없습니다.',
    ],
    [
      'Set openstackNodeNameMetadataKey and that metadata key on the server.',
      'openstackNodeNameMetadataKey를 지정하고 서버에 해당 메타데이터를 설정하십시오.',
    ],
  ),
  SecretInSpec: row(
    'openstackconfig',
    false,
    [
      'A password or key stands in the object itself, where everybody who may read the object reads it. It is used all the same.',
      '암호나 키가 객체 자체에 있어 객체를 읽을 수 있는 사람은 모두 볼 수 있습니다. 사용은 그대로 됩니다.',
    ],
    [
      'Keep it in a Secret; the message names the field and what to use instead.',
      'Secret에 보관하십시오. 필드와 대신 쓸 필드는 메시지에 있습니다.',
    ],
  ),
  TLSNotVerified: row(
    'openstackconfig',
    false,
    [
      'The object, or the clouds.yaml of its Secret, has certificates not verified, as the policy of the operator allows for these places. Whoever is on the way there can read and change everything, passwords too.',
      '객체 또는 Secret의 clouds.yaml이 인증서를 검증하지 않도록 하며, 오퍼레이터 정책이 해당 주소에서 이를 허용합니다. 경로에 있는 누구나 암호를 포함한 모든 내용을 읽고 바꿀 수 있습니다.',
    ],
    [
      'Give the authority instead: OPENSTACK_CA_FILE, CONTRABASS_CA_FILE, or cacert of the clouds.yaml.',
      '대신 인증 기관을 지정하십시오: OPENSTACK_CA_FILE, CONTRABASS_CA_FILE 또는 clouds.yaml의 cacert.',
    ],
  ),
  SecretNotOurs: row(
    'openstackconfig',
    false,
    [
      'A Secret with the name under which the operator would write the message queue belongs to somebody else. It is left alone; NICs are none the worse.',
      '오퍼레이터가 메시지 큐 정보를 쓸 이름의 Secret이 다른 소유자의 것입니다. 그대로 두며 NIC에는 영향이 없습니다.',
    ],
    [
      'Delete the Secret that the message names, or set RABBITMQ_SECRETS=false.',
      '메시지에 나온 Secret을 삭제하거나 RABBITMQ_SECRETS=false로 설정하십시오.',
    ],
  ),
  Connected: row(
    'openstackconfig',
    false,
    [
      'The operator listens to the message queue of OpenStack.',
      '오퍼레이터가 OpenStack 메시지 큐의 알림을 받고 있습니다.',
    ],
    nothing,
  ),
  Disconnected: row(
    'openstackconfig',
    true,
    [
      'The operator cannot listen to the message queue of OpenStack; it finds changes by polling, a little later.',
      '오퍼레이터가 OpenStack 메시지 큐의 알림을 받지 못합니다. 변경 사항은 폴링으로 조금 늦게 발견됩니다.',
    ],
    [
      'Do what the message of the condition Notifications says, or switch notifications off.',
      'Notifications 조건의 메시지대로 조치하거나 알림을 끄십시오.',
    ],
  ),
  InvalidPort: row(
    'openstackconfig',
    true,
    [
      'A port cannot be a NIC beside the others of its node; the others are delivered.',
      '포트를 노드의 다른 NIC와 함께 사용할 수 없으며 나머지는 전달됩니다.',
    ],
    [
      'Correct the port; the message names the field.',
      '메시지에 표시된 포트의 필드를 수정하십시오.',
    ],
  ),
  Waiting: row(
    'openstackconfig',
    true,
    [
      'A node waits until something else is done, for example until its former object is gone. Ready is False when the business cluster lacks planned NICs for five minutes.',
      '이전 객체 삭제 등 선행 작업이 끝날 때까지 노드가 대기 중입니다. 비즈 클러스터에 계획한 NIC가 5분 동안 없으면 Ready가 False가 됩니다.',
    ],
    [
      'Nothing at first. If it lasts, look at the MultiNicNodeConfig that the message names, and why its controller cannot remove it.',
      '처음에는 조치가 필요 없습니다. 계속되면 메시지에 있는 MultiNicNodeConfig와 컨트롤러가 이를 제거하지 못하는 이유를 확인하십시오.',
    ],
  ),
  TimeoutCapped: row(
    'openstackconfig',
    false,
    [
      'A timeout of the object or of the operator is longer than five minutes and counts as five minutes.',
      '객체 또는 오퍼레이터의 타임아웃이 5분보다 길어 5분으로 적용됩니다.',
    ],
    [
      'Set the field that the message names to five minutes or less.',
      '메시지에 표시된 필드를 5분 이하로 설정하십시오.',
    ],
  ),
  WaitingForTrigger: row(
    'openstackconfig',
    true,
    [
      'There was no sync of this generation yet, as the trigger mode has no cause for one.',
      '트리거 모드에 따라 아직 이 세대의 동기화가 시작되지 않았습니다.',
    ],
    [
      'Wait for the time that the message names, or set the annotation multinic.io/reconcile-at to a new value.',
      '메시지에 있는 시각까지 기다리거나 multinic.io/reconcile-at 어노테이션에 새 값을 설정하십시오.',
    ],
  ),
  Paused: row(
    'openstackconfig',
    false,
    [
      'The annotation multinic.io/paused is true, or has a value that is neither true nor false; nothing is read or changed. On a MultiNicNodeConfig: no agent is sent, but for the clean-up when the object is deleted.',
      'multinic.io/paused 어노테이션이 true이거나 true/false가 아닌 값이므로 조회와 변경을 하지 않습니다. MultiNicNodeConfig에서는 객체를 삭제할 때의 정리를 제외하고 에이전트를 보내지 않습니다.',
    ],
    [
      'Remove the annotation, or set it to false, to go on.',
      '계속하려면 어노테이션을 제거하거나 false로 설정하십시오.',
    ],
  ),
  Deleting: row(
    'openstackconfig',
    true,
    [
      'The NICs of this object are being removed from the nodes.',
      '이 객체의 NIC를 노드에서 제거하는 중입니다.',
    ],
    [
      'Wait; the message names the nodes that are not done yet.',
      '기다려 주십시오. 완료되지 않은 노드는 메시지에 있습니다.',
    ],
  ),
  RemovalUnsupported: row(
    'openstackconfig',
    false,
    [
      'A legacy Viola cannot remove the last NIC of a node, or a node.',
      'legacy Viola는 노드의 마지막 NIC나 노드를 제거할 수 없습니다.',
    ],
    [
      'Delete the MultiNicNodeConfig that the message names in the business cluster, then set the annotation `multinic.io/allow-removals` to a new value; or use a native Viola.',
      '비즈 클러스터에서 메시지에 있는 MultiNicNodeConfig를 삭제한 다음 `multinic.io/allow-removals` 어노테이션을 새 값으로 설정하십시오. 또는 native Viola를 사용하십시오.',
    ],
  ),
  ...portReasons,
  ...checkReasons,
} as const satisfies Record<string, ReasonRow>;
