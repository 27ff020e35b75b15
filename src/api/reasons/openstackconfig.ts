import { violaCodes } from '../message-codes.ts';
import { annotations } from '../names.ts';
import { checkReasons } from './checks.ts';
import { cloudReasons } from './cloud.ts';
import { deletionReasons } from './deletion.ts';
import { multinic, openstack, patchConfig, syncConfig } from './next-step-row.ts';
import { noticeReasons } from './notices.ts';
import { ownerReasons } from './owner.ts';
import { portReasons } from './port.ts';
import { nothing, row, type StatusReasonRow } from './reason-row.ts';
import { serverReasons } from './server.ts';

/** Reasons for one OpenstackConfig. */
export const openstackConfigReasons = {
  Synced: row(
    'openstackconfig',
    false,
    [
      'Changed nodes were delivered to the business cluster.',
      '변경된 노드를 비즈니스 클러스터에 전달했습니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  NoChange: row(
    'openstackconfig',
    false,
    ['The last sync found no changes.', '마지막 동기화에 변경 사항이 없습니다.'],
    nothing,
    { alerts: [] },
  ),
  Healthy: row(
    'openstackconfig',
    false,
    ['The last sync succeeded.', '마지막 동기화가 성공했습니다.'],
    nothing,
    { alerts: [] },
  ),
  Error: row(
    'openstackconfig',
    true,
    [
      'The last sync failed; the condition Ready has the reason.',
      '마지막 동기화가 실패했습니다. 사유는 Ready 조건에 있습니다.',
    ],
    ['Check the condition Ready.', 'Ready 조건을 확인하십시오.'],
    { alerts: [], blocks: ['sync'] },
  ),
  ConfigError: row(
    'openstackconfig',
    false,
    [
      'A field or setting has an unusable value.',
      '사용할 수 없는 값을 가진 필드 또는 설정이 있습니다.',
    ],
    ['Correct the field that the message names.', '메시지에 표시된 필드를 수정하십시오.'],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['sync'] },
  ),
  ...cloudReasons,
  SubnetRequired: row(
    'openstackconfig',
    false,
    ['No subnet is selected.', '서브넷이 지정되지 않았습니다.'],
    [
      'Set spec.subnetIDs, subnetID or subnetName.',
      'spec.subnetIDs, subnetID 또는 subnetName을 지정하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['sync'] },
  ),
  SubnetNotFound: row(
    'openstackconfig',
    true,
    ['No subnet has this name or id.', '해당 이름 또는 ID의 서브넷이 없습니다.'],
    [
      'Correct the name or id, or grant the account access to the subnet.',
      '이름 또는 ID를 수정하거나 계정에 서브넷 접근 권한을 부여하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['servers'] },
  ),
  SubnetNotUnique: row(
    'openstackconfig',
    true,
    ['Several subnets have this name.', '같은 이름의 서브넷이 여러 개 있습니다.'],
    ['Use spec.subnetIDs.', 'spec.subnetIDs를 사용하십시오.'],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['servers'] },
  ),
  ViolaPostError: row(
    'openstackconfig',
    true,
    ['Viola did not accept every node.', 'Viola가 일부 노드를 수락하지 않았습니다.'],
    [
      'Check the business cluster, its registration and the token; the message names the nodes.',
      '비즈니스 클러스터와 등록 정보, 토큰을 확인하십시오. 노드는 메시지에 있습니다.',
    ],
    { alerts: ['MultiNicDeliveryFailing'], blocks: ['delivery'], codes: violaCodes },
  ),
  NovaServerError: row(
    'openstackconfig',
    true,
    [
      'Servers could not be read from Nova; nodes keep their known names.',
      'Nova에서 서버를 조회하지 못했으며 노드는 알려진 이름을 유지합니다.',
    ],
    ['Check Nova; the operator retries.', 'Nova 상태를 확인하십시오. 자동으로 재시도합니다.'],
    { alerts: ['MultiNicCloudFailing'], step: 'Assignment', blocks: ['servers'] },
  ),
  ...serverReasons,
  InterfaceLimitExceeded: row(
    'openstackconfig',
    true,
    [
      'A server has more ports than spec.settings.maxInterfaces allows; the remaining ports are not delivered.',
      '서버의 포트가 spec.settings.maxInterfaces보다 많아 나머지 포트는 전달되지 않습니다.',
    ],
    [
      'Detach ports, select fewer subnets, or raise spec.settings.maxInterfaces (at most 10).',
      '포트를 분리하거나, 선택한 서브넷을 줄이거나, spec.settings.maxInterfaces를 늘리십시오(최대 10).',
    ],
    {
      alerts: ['MultiNicOpenstackConfigNotReady'],
      step: 'Filter',
      nextStep: [
        {
          text: {
            en: 'raise spec.settings.maxInterfaces:',
            ko: 'spec.settings.maxInterfaces를 늘리십시오.',
          },
          commands: [patchConfig({ spec: { settings: { maxInterfaces: '{raisedLimit}' } } })],
          preview: [multinic('plan', '{config}', '--set', 'maxInterfaces={raisedLimit}')],
        },
        { commands: [openstack('server', 'remove', 'port', '{server}', '{port}')] },
      ],
    },
  ),
  NameConflict: row(
    'openstackconfig',
    true,
    [
      'Two servers or two OpenstackConfigs claim one node; the node is left unchanged.',
      '두 서버 또는 두 OpenstackConfig가 한 노드를 사용하려 하여 현재 상태를 유지합니다.',
    ],
    [
      'Rename a server, or deselect it in one of the OpenstackConfigs.',
      '서버 이름을 변경하거나 한쪽 OpenstackConfig의 선택에서 제외하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], step: 'Assignment' },
  ),
  PolicyDenied: row(
    'openstackconfig',
    false,
    [
      'The policy of the operator does not allow this endpoint, provider or namespace, or requires certificate verification. The operator sends no request, and NICs stay unchanged.',
      '오퍼레이터 정책이 허용하지 않는 엔드포인트, 프로바이더 또는 네임스페이스이거나 정책이 인증서 검증을 요구합니다. 오퍼레이터는 요청을 보내지 않으며 NIC는 그대로 유지됩니다.',
    ],
    [
      'Use an allowed value, or extend the setting that the message names.',
      '허용된 값을 사용하거나 메시지에 있는 설정을 확장하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['sync'] },
  ),
  ProviderUnavailable: row(
    'openstackconfig',
    true,
    [
      'The cloud does not answer; all NICs stay unchanged.',
      '클라우드가 응답하지 않습니다. 모든 NIC를 그대로 유지합니다.',
    ],
    [
      'Check the cloud; the operator retries.',
      '클라우드 상태를 확인하십시오. 자동으로 재시도합니다.',
    ],
    { alerts: ['MultiNicCloudFailing'], blocks: ['sync'] },
  ),
  RemovalUnconfirmed: row(
    'openstackconfig',
    true,
    [
      'A port is missing in Neutron, or has no address in a selected subnet, but no evidence confirms that it was detached or deleted; its NIC stays.',
      'Neutron 목록에 포트가 없거나 선택한 서브넷의 주소가 없지만, 분리 또는 삭제되었다는 증거가 없어 NIC를 유지합니다.',
    ],
    [
      'Nothing at first: the operator checks again at every poll. If the reason stays, check the roles and the project of the account. To remove the NIC, detach the port, or deselect its subnet or server in the OpenstackConfig.',
      '처음에는 조치가 필요 없습니다. 오퍼레이터가 폴링할 때마다 다시 확인합니다. 계속되면 계정의 역할과 프로젝트를 확인하십시오. NIC를 제거하려면 포트를 분리하거나 OpenstackConfig의 선택에서 해당 서브넷 또는 서버를 제외하십시오.',
    ],
    { alerts: ['MultiNicRemovalUnconfirmed'], step: 'Assignment', blocks: ['delivery'] },
  ),
  RemovalHeld: row(
    'openstackconfig',
    true,
    [
      'NICs stay until you consent to their removal. The message begins with the code: OverBudget, SideEffect or NotKnownYet.',
      '제거에 동의할 때까지 NIC를 유지합니다.',
    ],
    [
      'To consent, run kubectl multinic allow-removals NAMESPACE/NAME, or set the annotation multinic.io/allow-removals to a new value (on a deleted MultiNicNodeConfig: multinic.io/delete-consent to the present time). The consent covers exactly the held NICs, for an hour. Otherwise undo the change, or save the specs of the deleted objects. To delete an OpenstackConfig but leave its NICs, set deletionPolicy Retain; to delete a MultiNicNodeConfig but leave its NICs, remove its finalizer multinic.io/cleanup.',
      '동의하려면 kubectl multinic allow-removals NAMESPACE/NAME을 실행하거나 multinic.io/allow-removals 어노테이션에 새 값을 설정하십시오(삭제된 MultiNicNodeConfig에는 multinic.io/delete-consent에 현재 시각). 동의는 보류된 NIC에만 한 시간 동안 유효합니다. 의도하지 않았다면 변경을 되돌리거나 삭제된 객체의 스펙을 저장하십시오. NIC를 남기고 OpenstackConfig를 삭제하려면 deletionPolicy를 Retain으로 설정하고, MultiNicNodeConfig를 삭제하려면 finalizer multinic.io/cleanup을 제거하십시오.',
    ],
    {
      alerts: ['MultiNicRemovalHeld', 'MultiNicDeletionsHeld', 'MultiNicBizConfigNotReady'],
      step: 'Assignment',
      blocks: ['delivery'],
      codes: [
        'OverBudget',
        'NotCounted',
        'SideEffect',
        'NotKnownYet',
        'NotNamed',
        'LinkPresent',
        'HeldNicHas',
      ],
      nextStep: [
        {
          commands: [multinic('allow-removals', '{config}')],
          preview: [multinic('plan', '{config}', '--removals')],
        },
      ],
    },
  ),
  InvalidNodeName: row(
    'openstackconfig',
    true,
    [
      'The name of a server cannot be the name of a Kubernetes node.',
      '서버 이름을 Kubernetes 노드 이름으로 사용할 수 없습니다.',
    ],
    [
      'Set openstackNodeNameMetadataKey, and set this metadata key on the server to the name of its node.',
      'openstackNodeNameMetadataKey를 지정하고 서버의 해당 메타데이터 키에 노드 이름을 설정하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], step: 'Assignment' },
  ),
  ...noticeReasons,
  SecretNotOurs: row(
    'openstackconfig',
    false,
    [
      'The Secret that the operator uses for the message queue exists, but the operator did not create it. The Secret is left unchanged; NICs are not affected.',
      '오퍼레이터가 메시지 큐 정보를 저장할 Secret이 이미 있지만 오퍼레이터가 만든 것이 아닙니다. Secret을 그대로 두며 NIC에는 영향이 없습니다.',
    ],
    [
      'Delete the Secret that the message names, or set RABBITMQ_SECRETS=false.',
      '메시지에 나온 Secret을 삭제하거나 RABBITMQ_SECRETS=false로 설정하십시오.',
    ],
    { alerts: [] },
  ),
  Connected: row(
    'openstackconfig',
    false,
    [
      'The operator listens to the message queue of OpenStack.',
      '오퍼레이터가 OpenStack 메시지 큐의 알림을 받고 있습니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  Disconnected: row(
    'openstackconfig',
    true,
    [
      'The operator cannot listen to the message queue of OpenStack; it finds changes by polling, a little later.',
      '오퍼레이터가 OpenStack 메시지 큐의 알림을 받지 못합니다. 변경 사항은 폴링으로 조금 늦게 발견됩니다.',
    ],
    [
      'Follow the message of the condition Notifications, or switch notifications off.',
      'Notifications 조건의 메시지대로 조치하거나 알림을 끄십시오.',
    ],
    { alerts: [] },
  ),
  InvalidPort: row(
    'openstackconfig',
    true,
    [
      'A port has unusable data, or conflicts with another NIC of its node. It is not delivered; the other ports are.',
      '포트의 데이터를 사용할 수 없거나 노드의 다른 NIC와 충돌하여 전달하지 않습니다. 나머지 포트는 전달됩니다.',
    ],
    [
      'Correct the port; the message names the field.',
      '메시지에 표시된 포트의 필드를 수정하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], step: 'Filter' },
  ),
  Waiting: row(
    'openstackconfig',
    true,
    [
      'A node waits for another step, for example the deletion of its former MultiNicNodeConfig. Ready becomes False when the business cluster lacks planned NICs for five minutes.',
      '이전 MultiNicNodeConfig 삭제 등 선행 작업이 끝날 때까지 노드가 대기 중입니다. 비즈니스 클러스터에 계획한 NIC가 5분 동안 없으면 Ready가 False가 됩니다.',
    ],
    [
      'Nothing at first. If the reason stays, check the MultiNicNodeConfig that the message names, and why its controller cannot remove it.',
      '처음에는 조치가 필요 없습니다. 계속되면 메시지에 있는 MultiNicNodeConfig와 컨트롤러가 이를 제거하지 못하는 이유를 확인하십시오.',
    ],
    { alerts: ['MultiNicDeliveryFailing'], step: 'Assignment', blocks: ['delivery'] },
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
    { alerts: [] },
  ),
  WaitingForTrigger: row(
    'openstackconfig',
    true,
    [
      'This generation was not synced yet: the trigger mode has not started a sync.',
      '트리거 모드가 동기화를 시작하지 않아 이 generation이 아직 동기화되지 않았습니다.',
    ],
    [
      'Wait for the time that the message names, or set the annotation multinic.io/reconcile-at to a new value.',
      '메시지에 있는 시각까지 기다리거나 multinic.io/reconcile-at 어노테이션에 새 값을 설정하십시오.',
    ],
    { alerts: [], nextStep: syncConfig },
  ),
  ObserveUnsupported: row(
    'openstackconfig',
    false,
    [
      'The Viola of the business cluster does not support spec.settings.mode Observe: it would apply the nodes. Nothing is delivered.',
      'spec.settings.mode가 Observe이지만 비즈니스 클러스터의 Viola가 이를 지원하지 않아 노드에 적용될 수 있습니다. 아무것도 전달하지 않습니다.',
    ],
    [
      'Upgrade Viola and the controller of the business cluster, or set spec.settings.mode to Apply.',
      '비즈니스 클러스터의 Viola와 컨트롤러를 업그레이드하거나 spec.settings.mode를 Apply로 설정하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['delivery'] },
  ),
  AdoptUnsupported: row(
    'openstackconfig',
    false,
    [
      'The Viola of the business cluster, or a CRD there, does not support spec.settings.existingConfiguration Adopt: the nodes are delivered as with Refuse.',
      '비즈니스 클러스터의 Viola 또는 CRD가 spec.settings.existingConfiguration Adopt를 지원하지 않습니다. 노드는 Refuse와 같이 전달됩니다.',
    ],
    [
      'Upgrade Viola, the CRDs and the controller of the business cluster, or set spec.settings.existingConfiguration to Refuse.',
      '비즈니스 클러스터의 Viola, CRD, 컨트롤러를 업그레이드하거나 spec.settings.existingConfiguration을 Refuse로 설정하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'] },
  ),
  Paused: row(
    'openstackconfig',
    false,
    [
      'The annotation multinic.io/paused is true, or has a value that is neither true nor false; OpenStack is not read and nothing is changed. The conditions Delivered and NICsReady still follow the business cluster. On a MultiNicNodeConfig: no agent runs, except for the cleanup when the object is deleted.',
      'multinic.io/paused 어노테이션이 true이거나 true/false가 아닌 값이므로 OpenStack을 조회하지 않고 아무것도 변경하지 않습니다. Delivered와 NICsReady 조건은 계속 비즈니스 클러스터를 따릅니다. MultiNicNodeConfig에서는 객체를 삭제할 때의 정리를 제외하고 에이전트를 실행하지 않습니다.',
    ],
    [
      'To resume, remove the annotation, or set it to false.',
      '재개하려면 어노테이션을 제거하거나 false로 설정하십시오.',
    ],
    {
      alerts: [],
      nextStep: [
        {
          commands: [
            ['kubectl', '-n', '{namespace}', 'annotate', 'osc', '{name}', `${annotations.paused}-`],
          ],
        },
      ],
    },
  ),
  ...deletionReasons,
  ...ownerReasons,
  ...portReasons,
  ...checkReasons,
} as const satisfies Record<string, StatusReasonRow>;
