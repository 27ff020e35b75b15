import { namespaces } from '../names.ts';
import { listSystemUuids } from './next-step-row.ts';
import { observeReasons } from './observe.ts';
import { nothing, row, type StatusReasonRow } from './reason-row.ts';

/** Reasons for one MultiNicNodeConfig. */
export const nodeReasons = {
  AllInterfacesConfigured: row(
    'node',
    false,
    ['Every NIC is configured and verified.', '모든 NIC가 설정되고 검증되었습니다.'],
    nothing,
    { alerts: [] },
  ),
  SpecChanged: row(
    'node',
    true,
    ['The changed spec is being applied to the node.', '변경된 스펙을 노드에 적용하는 중입니다.'],
    nothing,
    { alerts: [] },
  ),
  JobScheduled: row(
    'node',
    true,
    ['An agent Job was started for the node.', '노드에 에이전트 Job이 시작되었습니다.'],
    nothing,
    { alerts: [] },
  ),
  JobSucceeded: row(
    'node',
    false,
    ['The agent Job reported success.', '에이전트 Job이 성공을 보고했습니다.'],
    nothing,
    { alerts: [] },
  ),
  JobFailedPartial: row(
    'node',
    true,
    ['Some NICs could not be configured.', '일부 NIC를 설정하지 못했습니다.'],
    ['Check status.interfaceStatuses.', 'status.interfaceStatuses를 확인하십시오.'],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  JobFailed: row(
    'node',
    true,
    ['The agent Job failed.', '에이전트 Job이 실패했습니다.'],
    [
      'Read the logs of the Job that status.lastJobName names.',
      'status.lastJobName에 표시된 Job의 로그를 확인하십시오.',
    ],
    {
      alerts: ['MultiNicAgentFailing'],
      nextStep: [{ commands: [['kubectl', '-n', namespaces.agents, 'logs', 'job/{job}']] }],
    },
  ),
  ...observeReasons,
  InvalidEntries: row(
    'node',
    false,
    [
      'Some entries cannot be used; their NICs are left unchanged.',
      '일부 항목을 사용할 수 없으며 해당 NIC는 현재 상태를 유지합니다.',
    ],
    [
      'Correct the fields that status.interfaceStatuses names.',
      'status.interfaceStatuses에 표시된 필드를 수정하십시오.',
    ],
    { alerts: ['MultiNicNodeConfigNotReady'] },
  ),
  Accepted: row(
    'node',
    false,
    ['Every entry can be used.', '모든 항목을 사용할 수 있습니다.'],
    nothing,
    { alerts: [] },
  ),
  AsApplied: row(
    'node',
    false,
    [
      'The node matches the applied configuration, as far as it was checked.',
      '점검한 범위에서 노드는 적용된 상태와 같습니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  WaitingForTurn: row(
    'node',
    true,
    [
      'Another agent runs on this node, or the limit of concurrent agents is reached.',
      '이 노드에서 다른 에이전트가 실행 중이거나 동시 실행 한도에 도달했습니다.',
    ],
    ['Wait; the agent starts automatically.', '기다려 주십시오. 자동으로 시작됩니다.'],
    { alerts: [] },
  ),
  RolloutWaiting: row(
    'node',
    true,
    [
      'A rollout changes a few nodes first; this node is left unchanged until its step.',
      '롤아웃이 일부 노드를 먼저 변경합니다. 이 노드는 자기 단계가 될 때까지 현재 상태를 유지합니다.',
    ],
    [
      'Wait; the message names the current step and the nodes that must finish first.',
      '기다려 주십시오. 현재 단계와 먼저 끝나야 하는 노드는 메시지에 있습니다.',
    ],
    { alerts: [] },
  ),
  RolloutStopped: row(
    'node',
    false,
    [
      'Too many nodes of this revision failed; the revision reaches no further node.',
      '이 리비전에서 실패한 노드가 너무 많아 나머지 노드에는 적용하지 않습니다.',
    ],
    [
      'Check the nodes that the message names. Then correct the setting that the message names, else the source or the agent image; or, to continue, set the annotation multinic.io/rollout-continue to a new value on any object of the source.',
      '메시지에 표시된 노드를 확인하십시오. 메시지에 표시된 설정을 수정하거나(설정이 없으면 소스나 에이전트 이미지), 소스의 객체 하나에 multinic.io/rollout-continue 어노테이션을 새 값으로 설정하여 계속하십시오.',
    ],
    { alerts: [] },
  ),
  NodeNotFound: row(
    'node',
    true,
    [
      'No Kubernetes node has this instanceId as its systemUUID.',
      'systemUUID가 instanceId와 같은 Kubernetes 노드가 없습니다.',
    ],
    [
      'Wait until the node has joined, or correct instanceId.',
      '노드가 참여할 때까지 기다리거나 instanceId를 수정하십시오.',
    ],
    { alerts: ['MultiNicNodeConfigNotReady'], nextStep: listSystemUuids },
  ),
  NodeNotReady: row(
    'node',
    true,
    [
      'The Kubernetes node is not Ready; no agent runs on it. After five minutes the condition NodeReady is Unknown, Ready is Unknown if it was True, and the NICs of the node do not count as configured, because their state cannot be checked.',
      'Kubernetes 노드가 Ready 상태가 아니어서 에이전트를 실행하지 않습니다. 5분이 지나면 상태를 확인할 수 없으므로 NodeReady 조건이 Unknown이 되고, True였던 Ready도 Unknown이 되며, 해당 노드의 NIC는 설정된 것으로 세지 않습니다.',
    ],
    [
      'Check the node. When the node is Ready again, the earlier result returns without an agent run; waiting changes continue then, or when its Node object is deleted permanently.',
      '노드를 확인하십시오. 노드가 다시 Ready가 되면 에이전트를 실행하지 않고 이전 결과로 돌아갑니다. 대기 중인 변경은 그때, 또는 Node 객체가 완전히 삭제되면 진행됩니다.',
    ],
    { alerts: ['MultiNicNodeConfigNotReady'] },
  ),
  NotStarted: row(
    'node',
    true,
    [
      'The agent did not start within the start deadline; the controller deleted its Job.',
      '시작 제한 시간 안에 에이전트가 시작되지 않아 컨트롤러가 Job을 삭제했습니다.',
    ],
    [
      'The message names what did not start. Pod: check quotas and admission in the namespace of the Jobs. Kubelet: check the kubelet of the node. Container: read the events of the Pod.',
      '무엇이 시작되지 않았는지는 메시지에 있습니다. Pod이면 Job 네임스페이스의 쿼터와 admission을, kubelet이면 노드의 kubelet을, 컨테이너이면 Pod의 이벤트를 확인하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  JobRefused: row(
    'node',
    true,
    [
      'The API server refused the agent Job or its request.',
      'API 서버가 에이전트 Job 또는 요청을 거부했습니다.',
    ],
    [
      'Read the error of the API server in the message; check quotas, admission webhooks and the rights of the controller.',
      '메시지에 있는 API 서버의 오류를 읽고 쿼터, admission webhook, 컨트롤러 권한을 확인하십시오.',
    ],
    {
      alerts: ['MultiNicAgentFailing'],
      nextStep: [{ commands: [['kubectl', '-n', namespaces.agents, 'get', 'resourcequota']] }],
    },
  ),
  NodeGone: row(
    'node',
    false,
    [
      'A deleted object was released without cleaning its node: no Node with its instanceId existed for an hour, or its server is deleted. If the machine still runs, NICs may remain on it.',
      'instanceId가 같은 Node가 한 시간 동안 없었거나 서버가 삭제되어, 노드를 정리하지 않고 객체 삭제를 끝냈습니다. 머신이 아직 동작 중이면 NIC가 남아 있을 수 있습니다.',
    ],
    [
      'If the machine still runs, create the object again when its Node is back, and delete it then.',
      '머신이 아직 동작 중이면 Node가 돌아온 뒤 객체를 다시 생성하고 삭제하십시오.',
    ],
    { alerts: [] },
  ),
  DuplicateSystemUUID: row(
    'node',
    true,
    [
      'Two Kubernetes nodes report the same systemUUID; MultiNIC changes neither.',
      '두 Kubernetes 노드가 같은 systemUUID를 보고하여 어느 쪽도 변경하지 않습니다.',
    ],
    [
      'Give each machine its own UUID; machines cloned from one image may share it.',
      '각 머신에 고유한 UUID를 부여하십시오. 한 이미지에서 복제한 머신은 UUID가 같을 수 있습니다.',
    ],
    { alerts: ['MultiNicNodeConfigNotReady'], nextStep: listSystemUuids },
  ),
  DuplicateInstanceId: row(
    'node',
    true,
    [
      'Two MultiNicNodeConfigs name the same instanceId; neither is applied.',
      '두 MultiNicNodeConfig가 같은 instanceId를 가리켜 적용하지 않습니다.',
    ],
    ['Delete the object that is not needed.', '필요 없는 객체를 삭제하십시오.'],
    { alerts: ['MultiNicNodeConfigNotReady'] },
  ),
  NameDiffers: row(
    'node',
    false,
    [
      'The field nodeName differs from the name of the Kubernetes node with this instanceId.',
      'nodeName이 실제 Kubernetes 노드 이름과 다릅니다.',
    ],
    [
      'Nothing is wrong; rename the server if you want equal names.',
      '문제는 아닙니다. 이름을 맞추려면 서버 이름을 변경하십시오.',
    ],
    { alerts: [] },
  ),
  OtherControllerActive: row(
    'node',
    true,
    [
      'The legacy controller runs in this cluster; this controller waits, because two controllers must not change one node.',
      '기존 시스템의 컨트롤러가 이 클러스터에서 동작 중입니다. 두 컨트롤러가 한 노드를 변경하면 안 되므로 이 컨트롤러는 대기합니다.',
    ],
    [
      'Stop the legacy controller permanently, then set the annotation multinic.io/take-over=true on the object.',
      '기존 시스템의 컨트롤러를 완전히 중지한 뒤 객체에 multinic.io/take-over=true 어노테이션을 설정하십시오.',
    ],
    { alerts: ['MultiNicOtherController'] },
  ),
  ResultLost: row(
    'node',
    true,
    [
      'The agent ended without a result, so the state of the NICs is unknown.',
      '에이전트가 결과 없이 종료되어 NIC의 상태를 알 수 없습니다.',
    ],
    [
      'Wait for the next attempt. If that fails as well, read the logs of the Job.',
      '다음 시도를 기다려 주십시오. 다시 실패하면 Job 로그를 확인하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  ProtocolMismatch: row(
    'node',
    true,
    [
      'The agent image and the controller use different protocol versions.',
      '에이전트 이미지와 컨트롤러의 프로토콜 버전이 다릅니다.',
    ],
    [
      'Use agent and controller images of the same release.',
      '같은 릴리스의 에이전트와 컨트롤러 이미지를 사용하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  DeadlineExceeded: row(
    'node',
    true,
    ['The agent Job did not end in time.', '에이전트 Job이 제한 시간 안에 끝나지 않았습니다.'],
    ['Check the node and the logs of the Job.', '노드와 Job 로그를 확인하십시오.'],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  ImagePullFailed: row(
    'node',
    true,
    ['The node cannot pull the agent image.', '노드가 에이전트 이미지를 가져오지 못합니다.'],
    [
      'Correct the image name, the pull secret or the registry.',
      '이미지 이름, 인증 정보 또는 레지스트리를 확인하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  Unschedulable: row(
    'node',
    true,
    [
      'The agent Pod cannot be scheduled on its node.',
      '에이전트 Pod를 해당 노드에 배치할 수 없습니다.',
    ],
    [
      'Check the taints and the free resources of the node.',
      '노드의 taint와 남은 자원을 확인하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  OutOfMemory: row(
    'node',
    true,
    ['The agent was killed for using too much memory.', '에이전트가 메모리 초과로 종료되었습니다.'],
    [
      'Raise the memory limit of the agent (agent.resources of the chart).',
      '에이전트 메모리 제한(차트의 agent.resources)을 늘리십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  Evicted: row(
    'node',
    true,
    ['The kubelet evicted the agent Pod.', 'kubelet이 에이전트 Pod를 축출했습니다.'],
    ['Free the resource that the node lacks.', '노드에 부족한 자원을 확보하십시오.'],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  StaleRequest: row(
    'node',
    true,
    [
      'The node has already handled a newer request, so the agent refused this one.',
      '노드가 더 새로운 요청을 이미 처리하여 에이전트가 이 요청을 거부했습니다.',
    ],
    [
      'Nothing; the controller sends the current request again.',
      '조치가 필요 없습니다. 컨트롤러가 현재 요청을 다시 보냅니다.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  UnknownState: row(
    'node',
    true,
    [
      'The state file on the node has a version that the agent does not know; nothing was changed.',
      '에이전트가 노드의 상태 파일 버전을 알지 못하여 아무것도 변경하지 않았습니다.',
    ],
    [
      'Use the agent version that wrote the file, or a newer one.',
      '해당 파일을 기록한 버전 이상의 에이전트를 사용하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  WrongMachine: row(
    'node',
    true,
    [
      'The machine id of the host differs from that of the Node that the Job was created for; nothing was changed.',
      '호스트의 머신 ID가 Job을 만들 때의 노드와 다릅니다. 아무것도 변경하지 않았습니다.',
    ],
    [
      'Wait: the controller retries when the Node reports its new machine id. If the reason stays, two machines share a node name.',
      'Node가 새 머신 ID를 보고하면 컨트롤러가 다시 시도하므로 기다려 주십시오. 계속되면 두 머신이 같은 노드 이름을 쓰고 있습니다.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  AlreadyRunning: row(
    'node',
    true,
    [
      'Another agent runs on the node; this agent changed nothing.',
      '노드에서 다른 에이전트가 작업 중이므로 이 에이전트는 아무것도 변경하지 않았습니다.',
    ],
    [
      'Wait for the next attempt. If the reason stays, find the hanging agent process on the node.',
      '다음 시도를 기다려 주십시오. 계속되면 노드에서 멈춘 에이전트 프로세스를 확인하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  RightMissing: row(
    'node',
    true,
    [
      'The agent Pod lacks a right that its Job grants: a mount, a capability, its user, or the host network. Nothing was changed.',
      '에이전트 Pod에 Job이 부여한 마운트, 권한(capability), 사용자 또는 호스트 네트워크 중 하나가 없습니다. 아무것도 변경하지 않았습니다.',
    ],
    [
      'The message names the missing right. Compare the Pod with its Job, and exempt agent Pods from the admission webhook, policy or runtime setting that changes them. EROFS: check whether a file system of the host is read-only. EACCES: check owner and mode of the folder on the host, and SELinux. Node without addresses: the agent cannot recognize the network of the host; wait until the Node has an address.',
      '빠진 항목은 메시지에 있습니다. Pod와 Job을 비교하고, 에이전트 Pod를 변경하는 어드미션 웹훅, 정책, 런타임 설정에서 에이전트 Pod를 제외하십시오. EROFS이면 호스트의 파일 시스템이 읽기 전용인지, EACCES이면 호스트 폴더의 소유자와 모드, SELinux를 확인하십시오. Node에 주소가 없으면 에이전트가 호스트 네트워크를 구분할 수 없으므로 주소가 생길 때까지 기다리십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
  InvalidRequest: row(
    'node',
    true,
    ['The agent could not read its request.', '에이전트가 요청을 읽지 못했습니다.'],
    [
      'Use agent and controller images of the same release.',
      '같은 릴리스의 에이전트와 컨트롤러 이미지를 사용하십시오.',
    ],
    { alerts: ['MultiNicAgentFailing'] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
