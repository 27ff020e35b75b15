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

const which: Inspection = {
  say: {
    en: 'Check which nodes are affected; the column Message has the cause.',
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
    en: 'Read the log of the last agent run on the node; its Job is deleted ten minutes after its end.',
    ko: '노드에서 마지막으로 실행된 에이전트의 로그를 확인합니다(Job은 종료 10분 뒤 삭제됨).',
  },
  run: `kubectl -n ${agentsNamespace} logs -l multinic.io/node-name=NODE --prefix --tail=100`,
};

const agents: Inspection = {
  say: {
    en: 'Check the Jobs and Pods of the agents.',
    ko: '에이전트의 Job과 Pod를 확인합니다.',
  },
  run: jobs,
};

const events: Inspection = {
  say: {
    en: 'The events show why a Pod does not start: image, quota, admission, Pod Security, taint.',
    ko: 'Pod가 시작하지 못하는 원인(이미지, 쿼터, admission, Pod Security, taint)은 이벤트에 있습니다.',
  },
  run: agentEvents,
};

const theReason = {
  en: 'Follow the action of the reason in the [table of reasons](../reference/reasons.md).',
  ko: '[사유 표](../reference/reasons.ko.md)에서 해당 사유의 조치를 따르십시오.',
};

const failedNics = ofLeader('multinic_interfaces{state="Failed"}', 'controller', ['state']);
const activeJobs = ofLeader('multinic_jobs_active', 'controller', []);

/** Alerts from the controller of a business cluster. */
export const ofNodesAndAgents = {
  MultiNicNicFailed: {
    exprs: { 'multinic-agent': `sum by (cluster) (${failedNics}) > 0` },
    for: '15m',
    severity: 'warning',
    summary: 'NICs could not be configured.',
    description: 'NICs in state Failed for 15 minutes: {{ $value }}.',
    meaning: {
      en: 'The agent refused a NIC or rolled its change back: another program uses the NIC, its subnet overlaps, or the kernel or a network manager refused the change.',
      ko: '에이전트가 NIC 설정을 거부했거나 변경을 되돌렸습니다. 다른 프로그램이 NIC를 사용하거나, 서브넷이 겹치거나, 커널 또는 네트워크 관리 데몬이 변경을 거부한 경우입니다.',
    },
    impact: {
      en: 'The NIC is in its previous state; workloads that need it do not work. The network of the node and its other NICs are not affected.',
      ko: 'NIC는 변경 전 상태로 유지되며 이 NIC가 필요한 워크로드는 동작하지 않습니다. 노드 자신의 네트워크와 다른 NIC는 영향을 받지 않습니다.',
    },
    diagnosis: [which, eachNic, lastRun],
    fix: [
      {
        en: 'Follow the action for the reason of the NIC in the [table of reasons](../reference/reasons.md#of-a-nic). With `RollbackFailed`, check the NIC on the node; with other reasons the node is in its previous state.',
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
    description: 'Nodes that have waited for a NIC for an hour: {{ $value }}.',
    meaning: {
      en: 'OpenStack reports the port as attached to the server, but the guest has no link with its MAC address.',
      ko: 'OpenStack에는 포트가 서버에 연결된 것으로 나오지만 게스트에 해당 MAC 주소의 링크가 없습니다.',
    },
    impact: {
      en: 'The NIC cannot be configured. Other NICs of the node are not affected.',
      ko: 'NIC를 설정할 수 없습니다. 노드의 다른 NIC는 정상적으로 처리됩니다.',
    },
    diagnosis: [
      which,
      eachNic,
      {
        say: {
          en: 'Compare the ports that Nova attached with the links of the node.',
          ko: 'Nova가 연결한 포트와 노드의 링크를 비교합니다.',
        },
        run: 'openstack port list --server INSTANCE_ID; ssh NODE ip -br link',
      },
    ],
    fix: [
      {
        en: 'If the link is missing in the guest, detach the port and attach it again, or check the hot-plug of the hypervisor. If the port does not belong to this server, detach it.',
        ko: '게스트에 링크가 없으면 포트를 분리했다가 다시 연결하거나 하이퍼바이저의 핫플러그 상태를 확인하십시오. 이 서버에 필요한 포트가 아니면 분리하십시오.',
      },
    ],
  },
  MultiNicAgentFailing: {
    exprs: { 'multinic-agent': notReady('nodeConfigs', 'MultiNicAgentFailing') },
    for: '15m',
    severity: 'warning',
    summary: 'Agent runs fail: {{ $labels.reason }}.',
    description:
      'Nodes without a successful agent run for 15 minutes: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: 'The agent Job cannot be created, does not start, or ends without a result for the NICs.',
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
        en: 'If all nodes are affected, check the image, its pull secret, quotas and Pod Security in the namespace of the Jobs; if one node is affected, check its kubelet, disk and memory. If a LimitRange or a ResourceQuota refuses the Pods, set `agent.resources` of the chart.',
        ko: '모든 노드에서 동시에 발생하면 이미지, 풀 시크릿, 쿼터 또는 Job 네임스페이스의 Pod Security를, 한 노드에서만 발생하면 그 노드의 kubelet, 디스크, 메모리를 확인하십시오. LimitRange나 ResourceQuota가 Pod를 거부하면 차트의 `agent.resources`를 설정하십시오.',
      },
    ],
  },
  MultiNicNodeConfigNotReady: {
    exprs: { 'multinic-agent': notReady('nodeConfigs', 'MultiNicNodeConfigNotReady') },
    for: '1h',
    severity: 'warning',
    summary: 'Node configs cannot be applied: {{ $labels.reason }}.',
    description:
      'MultiNicNodeConfigs that could not be applied for an hour: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: 'No agent runs: the node is unknown or not Ready, several nodes have its identity, or an entry of the spec cannot be used.',
      ko: '에이전트를 실행하지 않는 상태입니다. 노드를 찾을 수 없거나, Ready가 아니거나, 같은 식별자를 가진 노드가 여럿이거나, 스펙의 항목을 사용할 수 없습니다.',
    },
    impact: {
      en: 'Changes are not applied on these nodes. NICs that are configured go on working.',
      ko: '해당 노드에 변경이 적용되지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'Compare `spec.instanceId` with the UUIDs that the nodes report.',
          ko: '`spec.instanceId`를 노드가 보고하는 UUID와 비교합니다.',
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
    description: 'No agent Job has ended for 30 minutes; active Jobs: {{ $value }}.',
    meaning: {
      en: 'Jobs exist, but no results arrive. The deadline of a Job is ten minutes, so either its Pod is not removed from the node, or the Job controller does not process its end.',
      ko: 'Job이 있지만 결과가 들어오지 않습니다. Job의 제한 시간은 10분이므로 노드에서 Pod가 정리되지 않거나 Job 컨트롤러가 종료를 처리하지 못하는 상태입니다.',
    },
    impact: {
      en: '`CONTROLLER_MAX_IN_FLIGHT` limits the number of concurrent agents; Jobs that do not end block other nodes.',
      ko: '동시에 작업하는 노드 수는 `CONTROLLER_MAX_IN_FLIGHT`로 제한되므로 끝나지 않는 Job이 다른 노드의 작업을 막습니다.',
    },
    diagnosis: [
      agents,
      events,
      {
        say: {
          en: 'A Pod that stays in Terminating is on a node whose kubelet does not respond.',
          ko: 'Terminating 상태로 남은 Pod는 kubelet이 응답하지 않는 노드에 있습니다.',
        },
        run: 'kubectl get nodes',
      },
    ],
    fix: [
      {
        en: 'Repair the node, or delete its Node object if the node is lost permanently; its Pods are deleted, too. If no Job in the cluster ends, check kube-controller-manager.',
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
    description: 'Nodes that wait for a stopped rollout: {{ $value }}.',
    meaning: {
      en: 'A changed source, agent image or setting of a network is applied to one node first, then to 10 % of the nodes, then to the rest. The first node failed, or more than max(1, 10 %) of the finished nodes failed, with a NIC that was configured before.',
      ko: '소스의 변경, 새 에이전트 이미지, 네트워크 설정의 변경은 먼저 노드 1대, 그다음 노드의 10%, 마지막으로 나머지에 적용됩니다. 첫 노드가 실패했거나, 끝난 노드 중 max(1, 10%)를 넘는 노드가 이미 설정된 NIC에서 실패했습니다.',
    },
    impact: {
      en: 'The waiting nodes do not get the change. Other changes, new nodes and new ports of an unchanged source are configured as usual.',
      ko: '대기 중인 노드에는 해당 변경이 적용되지 않습니다. 다른 변경과 새 노드, 변경되지 않은 소스의 포트 연결은 평소처럼 설정됩니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check which nodes failed: the condition `RolloutStopped` of each waiting object names them.',
          ko: '실패한 노드를 확인합니다. 대기 중인 객체의 `RolloutStopped` 조건 메시지에 있습니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicnodeconfigs -o jsonpath='{range .items[*]}{.metadata.name}: {.status.conditions[?(@.type=="RolloutStopped")].message}{"\\n"}{end}'`,
      },
      eachNic,
      lastRun,
    ],
    fix: [
      {
        en: 'Correct the setting that the message names, else the source, or revert the agent image: a new revision starts with one node again.',
        ko: '메시지에 표시된 설정을 수정하거나, 설정이 없으면 소스를 수정하거나 에이전트 이미지를 되돌리십시오. 새 리비전은 다시 노드 1대부터 시작합니다.',
      },
      {
        en: `If the failures do not matter, continue: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/rollout-continue="$(date -Is)"\`, with any object of the source.`,
        ko: `실패를 무시해도 되면 소스의 객체 하나를 골라 계속하십시오: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/rollout-continue="$(date -Is)"\`.`,
      },
    ],
  },
  MultiNicDeletionsHeld: {
    exprs: { 'multinic-agent': notReady('nodeConfigs', 'MultiNicDeletionsHeld') },
    for: '1m',
    severity: 'critical',
    summary: 'MultiNIC blocks removals of NICs until you consent.',
    description:
      'MultiNicNodeConfigs that would remove NICs from their nodes without consent: {{ $value }}. These nodes are not changed until you consent or undo the change.',
    meaning: {
      en: 'The message begins with the code. `OverBudget`: edits and deletions of an hour would remove NICs from more than 3 nodes and 20 % of all nodes, or more than 10 NICs and 20 % of the NICs of the cluster or of an OpenstackConfig; or the CRD or namespace of the objects is being deleted. `SideEffect`: no edit names the NICs, as after a restore or with another instanceId. `NotKnownYet`: no agent has read the node for this object. The NICs stay, even when the hour is over; NICs that the spec lists are still configured.',
      ko: '메시지는 코드로 시작합니다. `OverBudget`: 한 시간의 편집과 삭제로 노드 3개와 전체 노드의 20%를 모두 넘거나, NIC 10개와 클러스터 또는 OpenstackConfig NIC의 20%를 모두 넘는 NIC가 제거되거나, 객체의 CRD 또는 네임스페이스가 삭제되는 중입니다. `SideEffect`: 복원하거나 instanceId가 바뀐 경우처럼 NIC를 지정한 편집이 없습니다. `NotKnownYet`: 이 객체에 대해 노드를 읽은 에이전트가 없습니다. 한 시간이 지나도 NIC는 유지되며, 스펙에 있는 NIC는 계속 설정됩니다.',
    },
    impact: {
      en: 'The held NICs continue to work, so you can still correct a mistake. A new NIC that needs the name or an address of a held NIC waits.',
      ko: '보류된 NIC는 계속 동작하므로 실수였다면 아직 바로잡을 수 있습니다. 보류된 NIC의 이름이나 주소가 필요한 새 NIC는 기다립니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'Check whether objects, their CRD or their namespace were deleted. If not, the message of `Ready` names the NICs that an edit would remove.',
          ko: '객체, CRD, 네임스페이스 중 무엇이 삭제되었는지 확인합니다. 삭제된 것이 없으면 `Ready`의 메시지에 편집으로 제거될 NIC가 나옵니다.',
        },
        run: `kubectl get namespace ${systemNamespace}; kubectl get crd multinicnodeconfigs.multinic.io -o jsonpath='{.metadata.deletionTimestamp}'`,
      },
      {
        say: {
          en: 'Save the specs before you do anything else.',
          ko: '다른 작업을 하기 전에 스펙을 저장합니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicnodeconfigs -o yaml > node-configs.yaml`,
      },
    ],
    fix: [
      {
        en: `If you intended the edit, consent at its source. OpenstackConfig: \`kubectl multinic allow-removals ${systemNamespace}/NAME\` in the management cluster. Single node config: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/allow-removals="$(date -u +%FT%TZ)"\`. The value must differ from the present one; it covers exactly the held NICs, for an hour. Otherwise undo the edit.`,
        ko: `의도한 편집이면 편집한 곳에서 동의하십시오. OpenstackConfig: 관리 클러스터에서 \`kubectl multinic allow-removals ${systemNamespace}/NAME\`. 노드 설정 하나: \`kubectl -n ${systemNamespace} annotate multinicnodeconfig NODE --overwrite multinic.io/allow-removals="$(date -u +%FT%TZ)"\`. 값은 현재 값과 달라야 하며, 보류된 NIC에만 한 시간 동안 유효합니다. 의도하지 않았다면 편집을 되돌리십시오.`,
      },
      {
        en: `If you intended the deletion: \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all --overwrite multinic.io/delete-consent="$(date -u +%FT%TZ)"\`. The NICs are then removed from the nodes. The value must be the present time: it counts for an hour, and not for a deletion more than an hour later.`,
        ko: `의도한 삭제이면: \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all --overwrite multinic.io/delete-consent="$(date -u +%FT%TZ)"\`. 이후 노드에서 NIC가 제거됩니다. 값은 현재 시각이어야 합니다. 한 시간 동안 유효하며, 한 시간이 지난 뒤의 삭제에는 적용되지 않습니다.`,
      },
      {
        en: `If you did not intend the deletion: it cannot be undone, but the NICs can stay. Save the specs, then delete the objects without cleanup: \`kubectl -n ${systemNamespace} patch multinicnodeconfig NODE --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'\`. Restore the CRD or the namespace (\`helm upgrade\`); the operator delivers the objects again, and NICs in their desired state are not changed.`,
        ko: `의도하지 않은 삭제이면: 삭제 요청은 취소할 수 없지만 NIC는 유지할 수 있습니다. 스펙을 저장한 다음 정리 없이 객체만 삭제되도록 하십시오: \`kubectl -n ${systemNamespace} patch multinicnodeconfig NODE --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'\`. CRD 또는 네임스페이스를 복구하면(\`helm upgrade\`) 오퍼레이터가 객체를 다시 전달하며, 올바르게 설정된 NIC는 변경되지 않습니다.`,
      },
    ],
  },
  MultiNicOtherController: {
    exprs: { 'multinic-agent': notReady('nodeConfigs', 'MultiNicOtherController') },
    for: '1h',
    severity: 'warning',
    summary: 'A legacy MultiNIC controller runs in this cluster.',
    description:
      'MultiNicNodeConfigs that have waited for an hour, because a legacy controller is active: {{ $value }}.',
    meaning: {
      en: 'This cluster has Jobs or statuses of the legacy controller; the MultiNIC controller changes nothing meanwhile.',
      ko: '기존 시스템의 컨트롤러의 Job 또는 상태가 이 클러스터에 있어 MultiNIC 컨트롤러는 아무것도 변경하지 않습니다.',
    },
    impact: {
      en: 'The MultiNIC controller applies no changes. The legacy controller continues its work.',
      ko: 'MultiNIC 컨트롤러는 변경을 적용하지 않습니다. 기존 시스템의 컨트롤러는 계속 동작합니다.',
    },
    diagnosis: [
      which,
      {
        say: {
          en: 'Check whether the legacy controller still runs.',
          ko: '기존 시스템의 컨트롤러가 아직 실행 중인지 확인합니다.',
        },
        run: "kubectl get deployments,jobs -A -l 'app.kubernetes.io/name=multinic-agent,!app.kubernetes.io/component'",
      },
      {
        say: {
          en: 'The log of the MultiNIC controller names the object or Job of the legacy controller.',
          ko: '어떤 객체나 Job 때문에 대기하는지는 MultiNIC 컨트롤러의 로그에 나타납니다.',
        },
        run: logs.controller,
      },
    ],
    fix: [
      {
        en: `Stop the legacy controller permanently, then run \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all multinic.io/take-over=true\`.`,
        ko: `기존 시스템의 컨트롤러를 완전히 중지한 다음 \`kubectl -n ${systemNamespace} annotate multinicnodeconfigs --all multinic.io/take-over=true\`를 실행하십시오.`,
      },
    ],
  },
} as const satisfies Alerts;
