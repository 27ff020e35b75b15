import type { NodeReason } from '../../src/api/reasons.ts';
import type { Alerts, Inspection } from './alert.ts';
import {
  agentEvents,
  agentsNamespace,
  jobs,
  logs,
  nodeConfigs,
  systemNamespace,
} from './commands.ts';
import { notReady, ofLeader } from './expressions.ts';

const ofAgents: readonly NodeReason[] = [
  'AlreadyRunning',
  'DeadlineExceeded',
  'Evicted',
  'ImagePullFailed',
  'InvalidRequest',
  'JobFailed',
  'JobFailedPartial',
  'JobRefused',
  'NotStarted',
  'OutOfMemory',
  'ProtocolMismatch',
  'ResultLost',
  'RightMissing',
  'StaleRequest',
  'UnknownState',
  'Unschedulable',
  'WrongMachine',
];

const ofNodes: readonly NodeReason[] = [
  'DuplicateInstanceId',
  'DuplicateSystemUUID',
  'InvalidEntries',
  'NodeNotFound',
  'NodeNotReady',
];

const which: Inspection = {
  say: {
    en: 'See which nodes it is about; the column Message says what.',
    ko: '어떤 노드인지 확인합니다. 원인은 Message 열에 있습니다.',
  },
  run: nodeConfigs,
};

const eachNic: Inspection = {
  say: {
    en: 'Each NIC has its reason and message in `status.interfaceStatuses`.',
    ko: 'NIC별 사유와 메시지는 `status.interfaceStatuses`에 있습니다.',
  },
  run: `kubectl -n ${systemNamespace} get multinicnodeconfig NODE -o yaml`,
};

const lastRun: Inspection = {
  say: {
    en: 'See the last run on the node, while its Job is kept (ten minutes).',
    ko: '노드에서 마지막으로 실행된 Job을 확인합니다(종료 후 10분간 보존).',
  },
  run: `kubectl -n ${agentsNamespace} logs -l multinic.io/node-name=NODE --prefix --tail=100`,
};

const agents: Inspection = {
  say: {
    en: 'See the Jobs and Pods of the agents.',
    ko: '에이전트의 Job과 Pod를 확인합니다.',
  },
  run: jobs,
};

const events: Inspection = {
  say: {
    en: 'What keeps a Pod from starting is in the events: image, quota, admission, Pod Security, taint.',
    ko: 'Pod가 시작하지 못하는 원인(이미지, 쿼터, admission, Pod Security, taint)은 이벤트에 있습니다.',
  },
  run: agentEvents,
};

const theReason = {
  en: 'Do what the [table of reasons](../reference/reasons.md) says about the reason.',
  ko: '[사유 표](../reference/reasons.ko.md)에서 해당 사유의 조치를 따르십시오.',
};

const failedNics = ofLeader('multinic_interfaces{state="Failed"}', 'controller', ['state']);
const activeJobs = ofLeader('multinic_jobs_active', 'controller', []);

/** What the controller of a business cluster says of nodes. */
export const ofNodesAndAgents = {
  MultiNicNicFailed: {
    exprs: { 'multinic-agent': `sum by (cluster) (${failedNics}) > 0` },
    for: '15m',
    severity: 'warning',
    summary: 'NICs could not be configured.',
    description: '{{ $value }} NICs have been Failed on their nodes for 15 minutes.',
    meaning: {
      en: 'The agent refused a NIC or undid its change: the NIC belongs to somebody else, its subnet overlaps, or the kernel or a network manager said no.',
      ko: '에이전트가 NIC 설정을 거부했거나 변경을 되돌렸습니다. 다른 주체가 사용하는 NIC이거나, 서브넷이 겹치거나, 커널 또는 네트워크 관리자가 변경을 거부한 경우입니다.',
    },
    impact: {
      en: "The NIC is as it was before; what needs it does not work. The node's own network and its other NICs are not touched.",
      ko: 'NIC는 변경 전 상태로 유지되며 이 NIC가 필요한 워크로드는 동작하지 않습니다. 노드 자신의 네트워크와 다른 NIC는 영향을 받지 않습니다.',
    },
    diagnosis: [which, eachNic, lastRun],
    fix: [
      {
        en: 'Do what the [table of reasons](../reference/reasons.md#of-a-nic) says about the reason of the NIC. `RollbackFailed` needs a look at the node; all others left it as it was.',
        ko: '[사유 표](../reference/reasons.ko.md#nic)에서 해당 NIC 사유의 조치를 따르십시오. `RollbackFailed`이면 노드를 직접 확인해야 합니다. 다른 사유에서는 노드가 이전 상태로 유지됩니다.',
      },
    ],
  },
  MultiNicNicMissing: {
    exprs: {
      'multinic-agent': `sum by (cluster) (${ofLeader('multinic_node_configs_not_ready{reason="WaitingForNIC"}', 'controller', ['reason'])}) > 0`,
    },
    for: '1h',
    severity: 'warning',
    summary: 'NICs of attached ports do not appear on their nodes.',
    description: '{{ $value }} nodes have waited for a NIC for an hour.',
    meaning: {
      en: 'OpenStack says that the port is attached to the server, but the guest has no link with its MAC address.',
      ko: 'OpenStack에는 포트가 서버에 연결된 것으로 나오지만 게스트에 해당 MAC 주소의 링크가 없습니다.',
    },
    impact: {
      en: 'The NIC cannot be configured. Other NICs of the node are.',
      ko: 'NIC를 설정할 수 없습니다. 노드의 다른 NIC는 정상적으로 처리됩니다.',
    },
    diagnosis: [
      which,
      eachNic,
      {
        say: {
          en: 'Compare with what Nova attached, and with the links of the node.',
          ko: 'Nova가 연결한 포트와 노드의 링크를 비교합니다.',
        },
        run: 'openstack port list --server INSTANCE_ID; ssh NODE ip -br link',
      },
    ],
    fix: [
      {
        en: 'The link is missing in the guest: detach the port and attach it again, or look at the hot-plug of the hypervisor. The port is not meant for this server: detach it.',
        ko: '게스트에 링크가 없으면 포트를 분리했다가 다시 연결하거나 하이퍼바이저의 핫플러그 상태를 확인하십시오. 이 서버에 필요한 포트가 아니면 분리하십시오.',
      },
    ],
  },
  MultiNicAgentFailing: {
    exprs: { 'multinic-agent': notReady('controller', ofAgents) },
    for: '15m',
    severity: 'warning',
    summary: 'Agents do not do their work: {{ $labels.reason }}.',
    description:
      'On {{ $value }} nodes agents have not come to a result for 15 minutes ({{ $labels.reason }}).',
    meaning: {
      en: 'The Job of the agent cannot be made, does not start, or ends without a result that says anything about the NICs.',
      ko: '에이전트 Job을 만들 수 없거나, 시작되지 않거나, NIC 결과를 남기지 않고 종료됩니다.',
    },
    impact: {
      en: 'Changes are not applied on these nodes. NICs that are configured go on working.',
      ko: '해당 노드에 변경이 적용되지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [which, agents, events, lastRun],
    fix: [
      theReason,
      {
        en: 'All nodes at once point at the image, its pull secret, a quota or the Pod Security of the namespace of the Jobs; one node points at its kubelet, disk or memory. A LimitRange or a ResourceQuota refuses Pods whose resources it does not allow: set `agent.resources` of the chart.',
        ko: '모든 노드에서 동시에 발생하면 이미지, 풀 시크릿, 쿼터 또는 Job 네임스페이스의 Pod Security를, 한 노드에서만 발생하면 그 노드의 kubelet, 디스크, 메모리를 확인하십시오. LimitRange나 ResourceQuota가 Pod를 거부하면 차트의 `agent.resources`를 설정하십시오.',
      },
    ],
  },
  MultiNicNodeConfigNotReady: {
    exprs: { 'multinic-agent': notReady('controller', ofNodes) },
    for: '1h',
    severity: 'warning',
    summary: 'Node configs cannot be applied: {{ $labels.reason }}.',
    description:
      '{{ $value }} MultiNicNodeConfigs have not found a node or an entry to apply for an hour ({{ $labels.reason }}).',
    meaning: {
      en: 'No agent is sent: the node is unknown, not ready or not the only one of its identity, or an entry of the spec cannot be used.',
      ko: '에이전트를 보내지 않는 상태입니다. 노드를 찾을 수 없거나, Ready가 아니거나, 같은 식별자를 가진 노드가 여럿이거나, 스펙의 항목을 사용할 수 없습니다.',
    },
    impact: {
      en: 'Changes are not applied on these nodes. NICs that are configured go on working.',
      ko: '해당 노드에 변경이 적용되지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'Compare `spec.instanceId` with what the nodes report.',
          ko: '`spec.instanceId`를 노드가 보고하는 값과 비교합니다.',
        },
        run: 'kubectl get nodes -o custom-columns=NAME:.metadata.name,UUID:.status.nodeInfo.systemUUID',
      },
    ],
    fix: [theReason],
  },
  MultiNicJobsStuck: {
    exprs: {
      'multinic-agent': `sum by (cluster) (${activeJobs}) > 0 unless sum by (cluster) (increase(multinic_job_results_total[30m])) > 0`,
    },
    for: '30m',
    severity: 'warning',
    summary: 'Agent Jobs do not end.',
    description: '{{ $value }} agent Jobs are active, and none has ended for 30 minutes.',
    meaning: {
      en: 'Jobs are there and no result comes in. A Job may take ten minutes, so that they are not taken off their nodes, or nobody counts their end.',
      ko: 'Job이 있지만 결과가 들어오지 않습니다. Job의 제한 시간은 10분이므로 노드에서 Pod가 정리되지 않거나 Job 컨트롤러가 종료를 처리하지 못하는 상태입니다.',
    },
    impact: {
      en: 'As many nodes are worked on at once as `CONTROLLER_MAX_IN_FLIGHT` says; Jobs that do not end keep other nodes waiting.',
      ko: '동시에 작업하는 노드 수는 `CONTROLLER_MAX_IN_FLIGHT`로 제한되므로 끝나지 않는 Job이 다른 노드의 작업을 막습니다.',
    },
    diagnosis: [
      agents,
      events,
      {
        say: {
          en: 'A Pod that stays in Terminating is on a node whose kubelet is gone.',
          ko: 'Terminating 상태로 남은 Pod는 kubelet이 응답하지 않는 노드에 있습니다.',
        },
        run: 'kubectl get nodes',
      },
    ],
    fix: [
      {
        en: 'Bring the node back, or delete its Node object when it is gone for good; its Pods go with it. If no Job of the cluster ends, look at kube-controller-manager.',
        ko: '노드를 복구하거나, 완전히 없어진 노드라면 Node 객체를 삭제하십시오. Pod도 함께 정리됩니다. 클러스터의 모든 Job이 끝나지 않는다면 kube-controller-manager를 확인하십시오.',
      },
    ],
  },
  MultiNicRolloutStopped: {
    exprs: {
      'multinic-agent': `sum by (cluster) (${ofLeader('multinic_rollout_nodes{state="stopped"}', 'controller', ['state'])}) > 0`,
    },
    for: '1m',
    severity: 'warning',
    summary: 'A rollout is stopped because too many nodes failed.',
    description: '{{ $value }} nodes wait for a rollout that was stopped.',
    meaning: {
      en: 'An edit of a source, or another agent image, is applied to one node first, then to 10 % of the nodes, then to the rest. The first node failed, or more than max(1, 10 %) of the nodes that ended, for a NIC that was configured before.',
      ko: '소스의 변경이나 새 에이전트 이미지는 먼저 노드 1대, 그다음 노드의 10%, 마지막으로 나머지에 적용됩니다. 첫 노드가 실패했거나, 끝난 노드 중 max(1, 10%)를 넘는 노드가 이미 설정된 NIC에서 실패했습니다.',
    },
    impact: {
      en: 'The waiting nodes keep what they have. New nodes and ports attached to nodes of an unchanged source are configured as usual.',
      ko: '대기 중인 노드는 현재 상태를 유지합니다. 새 노드와 변경되지 않은 소스의 포트 연결은 평소처럼 설정됩니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See which nodes failed: the message of the condition `RolloutStopped` on any waiting object names them.',
          ko: '실패한 노드를 확인합니다. 대기 중인 객체의 condition `RolloutStopped` 메시지에 있습니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicnodeconfigs -o jsonpath='{range .items[*]}{.metadata.name}: {.status.conditions[?(@.type=="RolloutStopped")].message}{"\\n"}{end}'`,
      },
      eachNic,
      lastRun,
    ],
    fix: [
      {
        en: 'Correct the source, or set the agent image back: a new revision starts with one node again.',
        ko: '소스를 수정하거나 에이전트 이미지를 되돌리십시오. 새 리비전은 다시 노드 1대부터 시작합니다.',
      },
      {
        en: `If the failures do not matter, continue: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/rollout-continue="$(date -Is)"\`, with any object of the source.`,
        ko: `실패를 무시해도 되면 소스의 객체 하나를 골라 계속하십시오: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/rollout-continue="$(date -Is)"\`.`,
      },
    ],
  },
  MultiNicDeletionsHeld: {
    exprs: { 'multinic-agent': notReady('controller', ['RemovalHeld']) },
    for: '1m',
    severity: 'critical',
    summary: 'MultiNIC holds removals of NICs until somebody agrees.',
    description:
      '{{ $value }} MultiNicNodeConfigs would take NICs from their nodes without consent; nothing of these nodes changes until somebody decides.',
    meaning: {
      en: 'More than three objects, and a fifth of all, were deleted or lose NICs by edits within a minute, their CRD or namespace was deleted, or an object got another instanceId and would take NICs from a node. The guard keeps the objects and sends no agent.',
      ko: '1분 안에 객체 3개와 전체의 20%를 넘게 삭제하거나 편집하여 NIC가 빠질 예정이거나, CRD 또는 네임스페이스가 삭제되었거나, 객체의 instanceId가 바뀌어 어떤 노드에서 NIC가 빠질 예정입니다. 보호 장치가 객체를 유지하고 에이전트를 보내지 않습니다.',
    },
    impact: {
      en: 'NICs go on working. Nothing is applied on these nodes any more, and if it was a mistake there is time to mend it now.',
      ko: 'NIC는 계속 동작하지만 해당 노드에는 더 이상 변경이 적용되지 않습니다. 실수였다면 지금 바로잡을 수 있습니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'See whether something was deleted: the objects, their kind, or their namespace. If nothing was, the message of `Ready` names the NICs that an edit would take.',
          ko: '객체, CRD, 네임스페이스 중 무엇이 삭제되었는지 확인합니다. 삭제된 것이 없으면 `Ready`의 메시지에 편집으로 빠질 NIC가 나옵니다.',
        },
        run: `kubectl get namespace ${systemNamespace}; kubectl get crd multinicnodeconfigs.multinic.io -o jsonpath='{.metadata.deletionTimestamp}'`,
      },
      {
        say: {
          en: 'Save the specs before anything else.',
          ko: '다른 작업을 하기 전에 스펙을 저장합니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicnodeconfigs -o yaml > node-configs.yaml`,
      },
    ],
    fix: [
      {
        en: `An edit that is meant: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/allow-removals="$(date -u +%FT%TZ)"\`; a value counts once. One that is not meant: undo it.`,
        ko: `의도한 편집이면: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/allow-removals="$(date -u +%FT%TZ)"\`. 값은 한 번만 유효합니다. 의도하지 않았다면 편집을 되돌리십시오.`,
      },
      {
        en: `A deletion that is meant: \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all --overwrite multinic.io/delete-consent="$(date -u +%FT%TZ)"\`. The NICs are then removed from the nodes. The value must be a time from at most a day before the deletion and not in the future; any other value is no consent.`,
        ko: `의도한 삭제이면: \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all --overwrite multinic.io/delete-consent="$(date -u +%FT%TZ)"\`. 이후 노드에서 NIC가 제거됩니다. 값은 삭제 시점보다 하루 이상 이르지 않고 미래가 아닌 시각이어야 하며, 그 밖의 값은 동의로 인정되지 않습니다.`,
      },
      {
        en: `A deletion that is not meant: it cannot be taken back, but the NICs can be kept. Save the specs, then let the objects go without their cleanup: \`kubectl -n ${systemNamespace} patch multinicnodeconfig NODE --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'\`. Restore the kind or the namespace (\`helm upgrade\`); the operator delivers the objects anew, and NICs that are as they should be stay untouched.`,
        ko: `의도하지 않은 삭제이면: 삭제 요청은 취소할 수 없지만 NIC는 유지할 수 있습니다. 스펙을 저장한 다음 정리 없이 객체만 삭제되도록 하십시오: \`kubectl -n ${systemNamespace} patch multinicnodeconfig NODE --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'\`. CRD 또는 네임스페이스를 복구하면(\`helm upgrade\`) 오퍼레이터가 객체를 다시 전달하며, 올바르게 설정된 NIC는 변경되지 않습니다.`,
      },
    ],
  },
  MultiNicOtherController: {
    exprs: { 'multinic-agent': notReady('controller', ['OtherControllerActive']) },
    for: '1h',
    severity: 'warning',
    summary: 'Another MultiNIC controller works in this cluster.',
    description:
      '{{ $value }} MultiNicNodeConfigs have been left for an hour to another controller that is seen at work.',
    meaning: {
      en: 'Jobs or statuses of the controller that was deployed before are in this cluster; ours changes nothing beside it.',
      ko: '이전에 배포된 컨트롤러의 Job 또는 상태가 이 클러스터에 있어 새 컨트롤러는 아무것도 변경하지 않습니다.',
    },
    impact: {
      en: 'Ours applies nothing. Whatever the other one does goes on.',
      ko: '새 컨트롤러는 아무것도 적용하지 않습니다. 기존 컨트롤러의 동작은 그대로 계속됩니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'See whether the other one still runs.',
          ko: '기존 컨트롤러가 아직 실행 중인지 확인합니다.',
        },
        run: "kubectl get deployments,jobs -A -l 'app.kubernetes.io/name=multinic-agent,!app.kubernetes.io/component'",
      },
      {
        say: {
          en: 'Our log names the object or the Job by which it was seen.',
          ko: '어떤 객체나 Job 때문에 대기하는지는 로그에 나타납니다.',
        },
        run: logs.controller,
      },
    ],
    fix: [
      {
        en: `Stop the other one for good, then \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all multinic.io/take-over=true\`.`,
        ko: `기존 컨트롤러를 완전히 중지한 다음 \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all multinic.io/take-over=true\`를 실행하십시오.`,
      },
    ],
  },
} as const satisfies Alerts;
