import { row, type StatusReasonRow } from './reason-row.ts';

/** Reasons for an OpenstackConfig in deletion. */
export const deletionReasons = {
  DeletionDelayed: row(
    'openstackconfig',
    true,
    [
      'The object is deleted, and its NICs stay until the delay of the operator setting DELETION_DELAY has passed. Until then, another OpenstackConfig with the same cloud, project and business cluster may take them over.',
      '객체가 삭제되었으며, 오퍼레이터 설정 DELETION_DELAY의 대기 시간이 지날 때까지 NIC는 그대로 유지됩니다. 그동안 클라우드, 프로젝트, 비즈니스 클러스터가 같은 다른 OpenstackConfig가 NIC를 넘겨받을 수 있습니다.',
    ],
    [
      'Wait. To keep the NICs, set spec.settings.deletionPolicy to Retain: a deleted object still accepts this.',
      '기다려 주십시오. NIC를 유지하려면 spec.settings.deletionPolicy를 Retain으로 설정하십시오. 삭제 중인 객체에도 설정할 수 있습니다.',
    ],
    { alerts: ['MultiNicDeletionStuck'], blocks: ['sync', 'delivery'] },
  ),
  Deleting: row(
    'openstackconfig',
    true,
    [
      'The NICs of this object are being removed from the nodes.',
      '이 객체의 NIC를 노드에서 제거하는 중입니다.',
    ],
    [
      'Wait; the message names the nodes that are not cleaned yet.',
      '기다려 주십시오. 정리가 끝나지 않은 노드는 메시지에 있습니다.',
    ],
    { alerts: ['MultiNicDeletionStuck'], blocks: ['sync', 'delivery'] },
  ),
  RemovalUnsupported: row(
    'openstackconfig',
    false,
    [
      'A legacy Viola can remove neither a node nor the last NIC of a node.',
      'legacy Viola는 노드의 마지막 NIC나 노드를 제거할 수 없습니다.',
    ],
    [
      'Delete the MultiNicNodeConfig that the message names in the business cluster, then set the annotation `multinic.io/allow-removals` to a new value; or use a native Viola.',
      '비즈니스 클러스터에서 메시지에 있는 MultiNicNodeConfig를 삭제한 다음 `multinic.io/allow-removals` 어노테이션을 새 값으로 설정하십시오. 또는 native Viola를 사용하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['delivery'] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
