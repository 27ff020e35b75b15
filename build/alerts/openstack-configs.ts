import type { Alerts, Inspection } from './alert.ts';
import { logs, openstackConfigs, operatorNamespace, systemNamespace } from './commands.ts';
import { notReady, ofLeader } from './expressions.ts';

const which: Inspection = {
  say: {
    en: 'Check which OpenstackConfigs are affected; the column Message has the cause and the port, server or node.',
    ko: '어떤 OpenstackConfig인지 확인합니다. Message 열에 원인과 해당 포트, 서버, 노드가 표시됩니다.',
  },
  run: openstackConfigs,
};

/** Other reasons are no fault, or have their own alerts. */
const nicsNotConfigured = ofLeader(
  'multinic_openstack_configs_nics_not_ready{reason="NICsNotConfigured"}',
  'operator',
  ['reason'],
);

const theReason = {
  en: 'Follow the action of the reason in the [table of reasons](../reference/reasons.md#of-an-openstackconfig).',
  ko: '[사유 표](../reference/reasons.ko.md#openstackconfig)에서 해당 사유의 조치를 따르십시오.',
};

const askAgain = {
  en: `To retry at once: \`kubectl -n ${systemNamespace} annotate openstackconfig NAME --overwrite multinic.io/reconcile-at="$(date -Is)"\`.`,
  ko: `즉시 다시 시도하려면: \`kubectl -n ${systemNamespace} annotate openstackconfig NAME --overwrite multinic.io/reconcile-at="$(date -Is)"\``,
};

/** Alerts about OpenstackConfigs that are not Ready. */
export const ofOpenstackConfigs = {
  MultiNicCloudFailing: {
    exprs: { 'multinic-operator': notReady('openstackConfigs', 'MultiNicCloudFailing') },
    for: '15m',
    severity: 'warning',
    summary: 'A cloud fails for MultiNIC: {{ $labels.reason }}.',
    description:
      'OpenstackConfigs whose cloud could not be read for 15 minutes: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: 'Contrabass, Keystone, Neutron or Nova does not answer, refuses the account, or returns incomplete lists. During an outage the circuit breaker is open: one call at a time, up to 30 s apart, probes the service, and no other call is sent until it answers.',
      ko: 'Contrabass, Keystone, Neutron 또는 Nova가 응답하지 않거나, 계정을 거부하거나, 목록을 끝까지 반환하지 않습니다. 장애가 감지되면 서킷 브레이커가 열려, 서비스가 응답할 때까지 최대 30초 간격으로 한 번씩만 확인하고 나머지 호출은 보내지 않습니다.',
    },
    impact: {
      en: 'New ports of that cloud get no NIC. No NIC is removed: MultiNIC does not treat unknown ports as deleted.',
      ko: '해당 클라우드의 새 포트에 NIC가 설정되지 않습니다. 확인되지 않은 포트를 삭제된 것으로 보지 않으므로 NIC는 제거하지 않습니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'The log has service, address and error of each failed call. In `multinic_openstack_requests_total`, status 0 means no answer, 401 a refused account.',
          ko: '로그에 실패한 호출의 서비스, 주소, 오류가 있습니다. `multinic_openstack_requests_total`의 status 0은 응답 없음, 401은 계정 거부를 뜻합니다.',
        },
        run: logs.operator,
      },
      {
        say: {
          en: 'Check that the node of the operator can reach the address in the message: DNS, proxy, NetworkPolicy, certificate.',
          ko: '메시지에 나온 주소로 오퍼레이터가 있는 노드에서 접속되는지 확인합니다(DNS, 프록시, NetworkPolicy, 인증서).',
        },
        run: `kubectl -n ${operatorNamespace} get networkpolicies -o yaml`,
      },
    ],
    fix: [
      theReason,
      {
        en: 'The operator retries a password that Keystone refused once an hour, so that the account is not locked; it uses a new password at once.',
        ko: 'Keystone이 거부한 암호는 계정 잠금을 막기 위해 한 시간에 한 번만 다시 시도합니다. 암호를 바꾸면 즉시 사용합니다.',
      },
      askAgain,
    ],
  },
  MultiNicDeliveryFailing: {
    exprs: { 'multinic-operator': notReady('openstackConfigs', 'MultiNicDeliveryFailing') },
    for: '15m',
    severity: 'warning',
    summary: 'Nodes cannot be delivered to their business cluster.',
    description:
      'OpenstackConfigs with nodes that were not delivered for 15 minutes: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: '`ViolaPostError`: Viola is unreachable, has no registration of the business cluster, refuses the token of the operator, or cannot write to the business cluster. `Waiting`: the former MultiNicNodeConfig of a node is still being deleted, for example because its node cannot be cleaned.',
      ko: '`ViolaPostError`: Viola에 연결할 수 없거나, 등록되지 않은 비즈니스 클러스터이거나, 오퍼레이터의 토큰이 거부되었거나, 비즈니스 클러스터에 쓸 수 없는 상태입니다. `Waiting`: 노드를 정리할 수 없는 등의 이유로 이전 MultiNicNodeConfig가 아직 삭제되는 중입니다.',
    },
    impact: {
      en: 'Changes do not reach the nodes in the message. Configured NICs continue to work.',
      ko: '메시지에 나온 노드에 변경이 전달되지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'Check which business clusters fail: `sum by (provider, result) (increase(multinic_nodes_delivered_total[15m]))` in Prometheus, or the log of Viola.',
          ko: '어느 비즈니스 클러스터가 실패하는지 Prometheus의 `sum by (provider, result) (increase(multinic_nodes_delivered_total[15m]))` 또는 Viola 로그로 확인합니다.',
        },
        run: logs.viola,
      },
      {
        say: {
          en: 'Check which clusters are registered; the label has the provider.',
          ko: '등록된 클러스터를 확인합니다. 레이블 값이 provider입니다.',
        },
        run: 'kubectl -n multinic-clusters get secrets -L multinic.io/provider-id',
      },
    ],
    fix: [
      {
        en: '401 or 403: the token of the operator has no grant for that provider; see [access](../guides/access.md). 404: register the cluster. 503: its API server cannot be reached from Viola, or refuses the credentials of the registration.',
        ko: '401 또는 403이면 오퍼레이터의 토큰에 해당 provider 권한이 없습니다([access](../guides/access.ko.md) 참고). 404이면 클러스터를 등록하십시오. 503이면 Viola에서 해당 API 서버에 연결되지 않거나 등록된 인증 정보가 거부된 것입니다.',
      },
      askAgain,
    ],
  },
  MultiNicNicsNotReady: {
    exprs: {
      'multinic-operator': `sum by (cluster, reason) (${nicsNotConfigured}) > 0`,
    },
    for: '10m',
    severity: 'warning',
    summary: 'Planned NICs are not configured on their nodes.',
    description:
      'OpenstackConfigs with planned NICs that have not been configured for 10 minutes: {{ $value }}.',
    meaning: {
      en: 'The business cluster reports that planned NICs are not configured: an agent run fails or waits, a NIC differs from its object, or a Node is not ready. The operator reads these states once a minute, also while OpenStack is away.',
      ko: '비즈니스 클러스터에서 계획한 NIC가 설정되지 않은 상태입니다. 에이전트 실행이 실패했거나 대기 중이거나, NIC가 객체와 다르거나, Node가 Ready가 아닙니다. 오퍼레이터는 OpenStack이 응답하지 않아도 이 상태를 1분마다 조회합니다.',
    },
    impact: {
      en: 'Workloads on the named nodes lack NICs. Other nodes are not affected.',
      ko: '메시지에 나온 노드의 워크로드가 NIC를 사용할 수 없습니다. 다른 노드에는 영향이 없습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The condition NICsReady names nodes with a reason and a message for each.',
          ko: 'NICsReady 조건에 노드별 사유와 메시지가 있습니다.',
        },
        run: `kubectl -n ${systemNamespace} get openstackconfig NAME -o yaml`,
      },
      {
        say: {
          en: 'List the NICs that are not configured, with their reasons.',
          ko: '설정되지 않은 NIC와 사유를 확인합니다.',
        },
        run: 'kubectl multinic status',
      },
    ],
    fix: [
      {
        en: 'Follow the action of the reason of the NIC or node in the [table of reasons](../reference/reasons.md).',
        ko: '[사유 표](../reference/reasons.ko.md)에서 해당 NIC 또는 노드 사유의 조치를 따르십시오.',
      },
    ],
  },
  MultiNicOpenstackConfigNotReady: {
    exprs: { 'multinic-operator': notReady('openstackConfigs', 'MultiNicOpenstackConfigNotReady') },
    for: '30m',
    severity: 'warning',
    summary: 'OpenstackConfigs need a correction: {{ $labels.reason }}.',
    description:
      'OpenstackConfigs that have not been Ready for 30 minutes: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: 'An OpenstackConfig cannot be carried out: a user must correct a field, subnet, server, name or port.',
      ko: 'OpenstackConfig를 처리할 수 없습니다. 사용자가 필드, 서브넷, 서버, 이름 또는 포트를 수정해야 합니다.',
    },
    impact: {
      en: 'The NICs in the message are not configured. Other servers and ports are not affected.',
      ko: '메시지에 나온 NIC는 설정되지 않습니다. 다른 서버와 포트의 NIC는 정상적으로 처리됩니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'The status lists the nodes that need attention, with their reasons.',
          ko: '확인이 필요한 노드와 사유가 status에 나열됩니다.',
        },
        run: `kubectl -n ${systemNamespace} get openstackconfig NAME -o yaml`,
      },
    ],
    fix: [theReason],
  },
  MultiNicRemovalHeld: {
    exprs: { 'multinic-operator': notReady('openstackConfigs', 'MultiNicRemovalHeld') },
    for: '10m',
    severity: 'warning',
    summary: 'MultiNIC blocks NIC removals until you consent.',
    description: 'OpenstackConfigs whose NIC removals wait for consent: {{ $value }}.',
    meaning: {
      en: 'The message begins with the code. `OverBudget`: edits and deletions of an hour would remove NICs from more than 3 nodes and 20 % of the nodes of a business cluster, or more than 10 NICs and 20 % of its NICs or of the NICs of the OpenstackConfig. `SideEffect`: NICs would be removed because of another change (another business cluster, a recreated or restored OpenstackConfig), or an OpenstackConfig was deleted with its namespace or CRD. None of these removals starts before you consent, even when the hour is over.',
      ko: '메시지는 코드로 시작합니다. `OverBudget`: 한 시간의 편집과 삭제로 비즈니스 클러스터에서 노드 3개와 전체 노드의 20%를 모두 넘거나, NIC 10개와 그 클러스터 또는 OpenstackConfig NIC의 20%를 모두 넘는 NIC가 제거됩니다. `SideEffect`: 다른 변경(비즈니스 클러스터 변경, 다시 만들거나 복원한 OpenstackConfig) 때문에 NIC가 제거되거나, OpenstackConfig가 네임스페이스 또는 CRD와 함께 삭제되었습니다. 동의하기 전에는, 한 시간이 지나도, 어느 것도 제거하지 않습니다.',
    },
    impact: {
      en: 'All of these NICs stay. If their ports are really deleted, Neutron may assign their addresses to other ports.',
      ko: '해당 NIC는 모두 유지됩니다. 포트가 실제로 삭제되었다면 Neutron이 그 주소를 다른 포트에 할당할 수 있습니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'List the NICs, with the basis of each removal and the budget.',
          ko: 'NIC와 제거 근거, 남은 한도를 확인합니다.',
        },
        run: `kubectl multinic plan ${systemNamespace}/NAME --removals`,
      },
      {
        say: {
          en: 'Check in OpenStack whether the ports of the servers in the message are deleted. The cloud may have lost its database, or the account its role.',
          ko: '메시지에 나온 서버의 포트가 실제로 삭제되었는지 OpenStack에서 확인합니다. 클라우드 데이터베이스가 유실되었거나 계정의 역할이 바뀌었을 수 있습니다.',
        },
        run: 'openstack port list --server SERVER_ID',
      },
    ],
    fix: [
      {
        en: `If you intended the removals: \`kubectl multinic allow-removals ${systemNamespace}/NAME\`, or without the plugin \`kubectl -n ${systemNamespace} annotate openstackconfig NAME --overwrite multinic.io/allow-removals="$(date -Is)"\`. The consent covers exactly the NICs that wait, for an hour.`,
        ko: `의도한 변경이면: \`kubectl multinic allow-removals ${systemNamespace}/NAME\`, 플러그인이 없으면 \`kubectl -n ${systemNamespace} annotate openstackconfig NAME --overwrite multinic.io/allow-removals="$(date -Is)"\`. 동의는 대기 중인 NIC에만 한 시간 동안 유효합니다.`,
      },
      {
        en: 'Otherwise restore the ports, the role of the account or the selection of the OpenstackConfig; the blocked removals are then dropped automatically.',
        ko: '의도하지 않은 변경이면 포트, 계정의 역할 또는 OpenstackConfig의 선택 조건을 되돌리십시오. 보류된 제거는 자동으로 취소됩니다.',
      },
      {
        en: `If the OpenstackConfig was deleted by mistake: \`kubectl -n ${systemNamespace} patch openstackconfig NAME --type merge -p '{"spec":{"settings":{"deletionPolicy":"Retain"}}}'\`. The object is deleted and its NICs stay. Create it again; it then finds its NICs unchanged.`,
        ko: `실수로 삭제한 경우: \`kubectl -n ${systemNamespace} patch openstackconfig NAME --type merge -p '{"spec":{"settings":{"deletionPolicy":"Retain"}}}'\`. OpenstackConfig는 삭제되고 NIC는 유지되며, 다시 만들면 현재 상태 그대로 인식합니다.`,
      },
    ],
  },
  MultiNicRemovalUnconfirmed: {
    exprs: { 'multinic-operator': notReady('openstackConfigs', 'MultiNicRemovalUnconfirmed') },
    for: '2h',
    severity: 'warning',
    summary: 'Ports are missing in OpenStack without evidence of their removal.',
    description:
      'OpenstackConfigs with NICs whose port has been missing for 2 hours: {{ $value }}.',
    meaning: {
      en: 'A port is missing in the lists of Neutron, or has no address in the selected subnets, but no answer confirms that it was detached or deleted. The operator checks again at every poll.',
      ko: 'Neutron 목록에 포트가 없거나 선택한 서브넷의 주소가 없지만, 분리되었거나 삭제되었다는 증거가 없습니다. 폴링할 때마다 다시 확인합니다.',
    },
    impact: {
      en: 'The NIC stays on the node. If the port is really deleted, Neutron may assign its address to another port.',
      ko: 'NIC는 노드에 유지됩니다. 포트가 실제로 삭제되었다면 Neutron이 그 주소를 다른 포트에 할당할 수 있습니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'Read the port with the account of the OpenstackConfig, and with an administrator account: a difference points to a missing role or another project.',
          ko: 'OpenstackConfig의 계정과 관리자 계정으로 각각 포트를 조회합니다. 결과가 다르면 역할이 없거나 프로젝트가 다른 것입니다.',
        },
        run: 'openstack port show PORT_ID',
      },
    ],
    fix: [
      {
        en: 'Grant the account a role that can read the port. To remove the NIC, detach the port, or deselect the subnet or the server in the OpenstackConfig.',
        ko: '계정에 포트를 조회할 수 있는 역할을 부여하십시오. NIC를 제거하려면 포트를 분리하거나 OpenstackConfig의 선택에서 해당 서브넷 또는 서버를 제외하십시오.',
      },
    ],
  },
  MultiNicDeletionStuck: {
    exprs: { 'multinic-operator': notReady('openstackConfigs', 'MultiNicDeletionStuck') },
    for: '1h',
    severity: 'warning',
    summary: 'The deletion of OpenstackConfigs does not finish: {{ $labels.reason }}.',
    description:
      'Deleted OpenstackConfigs that have waited for the cleanup of their nodes for an hour: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: 'A deleted OpenstackConfig is removed when all its nodes are cleaned. A node, its business cluster or the inventory does not answer.',
      ko: '삭제한 OpenstackConfig는 모든 노드의 정리가 끝나야 사라집니다. 일부 노드, 비즈니스 클러스터 또는 인벤토리가 응답하지 않습니다.',
    },
    impact: {
      en: 'The object stays, and blocks the deletion of its namespace. The NICs of the nodes in the message stay as well.',
      ko: '객체가 남아 있으며 네임스페이스의 삭제도 끝나지 않습니다. 메시지에 나온 노드의 NIC도 그대로 유지됩니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'In the business cluster, check why the node is not cleaned. A node that is off permanently blocks the deletion until its Node object is deleted.',
          ko: '비즈니스 클러스터에서 노드가 정리되지 않는 이유를 확인합니다. 완전히 꺼진 노드는 Node 객체를 삭제할 때까지 삭제를 막습니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicnodeconfigs -o wide`,
      },
    ],
    fix: [
      theReason,
      {
        en: 'Do not remove the finalizer: without the object, MultiNIC does not know which nodes to clean. To leave the NICs on the nodes, set `spec.settings.deletionPolicy: Retain`; the object is then deleted without changing them.',
        ko: 'finalizer를 직접 제거하지 마십시오. 객체가 없으면 MultiNIC은 정리할 노드를 알 수 없습니다. NIC를 남기려면 `spec.settings.deletionPolicy: Retain`을 지정하십시오. 노드를 변경하지 않고 객체가 삭제됩니다.',
      },
    ],
  },
} as const satisfies Alerts;
