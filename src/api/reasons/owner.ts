import { row, type StatusReasonRow } from './reason-row.ts';

/** Reasons about the management cluster behind a node. */
export const ownerReasons = {
  ClusterIdentityUnread: row(
    'openstackconfig',
    false,
    [
      'The operator may not read the Namespace kube-system of its own cluster, so business clusters could not tell it from another operator. Nothing is written.',
      '오퍼레이터가 자신의 클러스터에서 kube-system 네임스페이스를 읽을 수 없어 비즈니스 클러스터에서 다른 오퍼레이터와 구별할 수 없습니다. 아무것도 쓰지 않습니다.',
    ],
    ['Grant the operator `get` on kube-system.', 'kube-system에 대한 `get` 권한을 부여하십시오.'],
    { alerts: ['MultiNicOpenstackConfigNotReady'] },
  ),
  OwnerUnverified: row(
    'openstackconfig',
    false,
    [
      'Nodes were delivered for an OpenstackConfig with this name and another uid, by an operator of an earlier release, which names no management cluster. The operator continues them, as after a restore. If another management cluster has an OpenstackConfig of this name, the nodes may be its own.',
      '이름은 같지만 UID가 다른 OpenstackConfig를 위해 이전 릴리스의 오퍼레이터가 전달한 노드입니다. 이 오퍼레이터는 관리 클러스터를 기록하지 않습니다. 복원 후와 마찬가지로 오퍼레이터가 이 노드들을 계속 관리합니다. 다른 관리 클러스터에 같은 이름의 OpenstackConfig가 있으면 그쪽 노드일 수 있습니다.',
    ],
    [
      'Nothing after a restore: the next POST writes management cluster and cloud, and the condition ends. If another management cluster delivers the nodes, deselect the servers in one of the two.',
      '복원한 경우라면 할 일이 없습니다. 다음 POST가 관리 클러스터와 클라우드를 기록하면 조건이 사라집니다. 다른 관리 클러스터가 이 노드를 전달하고 있다면 둘 중 한쪽에서 서버 선택을 해제하십시오.',
    ],
    { alerts: [] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
