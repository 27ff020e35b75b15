import { nothing, type ReasonRow, row } from './reason-row.ts';

const kind = 'multinicbizconfig';

/** Reasons for a MultiNicBizConfig. */
export const multiNicBizConfigReasons = {
  AllNodesConfigured: row(
    kind,
    false,
    [
      'Every node of the list is configured; an empty list has none.',
      '목록의 모든 노드가 설정되었습니다. 빈 목록에는 노드가 없습니다.',
    ],
    nothing,
  ),
  ProcessingNodes: row(
    kind,
    true,
    [
      'Nodes of the list are pending or in progress.',
      '목록의 일부 노드가 대기 중이거나 처리 중입니다.',
    ],
    nothing,
  ),
  NodesFailed: row(
    kind,
    true,
    [
      'Nodes of the list failed; they are retried.',
      '목록의 일부 노드가 실패했으며 다시 시도합니다.',
    ],
    [
      'Look at nodeStatuses, and at the MultiNicNodeConfig of each node that it names.',
      'nodeStatuses와 표시된 각 노드의 MultiNicNodeConfig를 확인하십시오.',
    ],
  ),
  EntriesRefused: row(
    kind,
    false,
    [
      'Entries of nodeConfigs cannot be used; their nodes keep their NICs, and the other nodes go on.',
      'nodeConfigs의 일부 항목을 사용할 수 없습니다. 해당 노드의 NIC는 유지되고 나머지 노드는 계속 진행됩니다.',
    ],
    ['Correct the fields that nodeStatuses names.', 'nodeStatuses에 표시된 필드를 수정하십시오.'],
  ),
  SpecUnreadable: row(
    kind,
    false,
    [
      'The spec has a field of the wrong type; no MultiNicNodeConfig changes.',
      'spec에 형식이 잘못된 필드가 있어 MultiNicNodeConfig를 변경하지 않습니다.',
    ],
    ['Correct the field that the message names.', '메시지에 표시된 필드를 수정하십시오.'],
  ),
  NodeConfigWins: row(
    kind,
    false,
    [
      'Another writer has a MultiNicNodeConfig for the node, such as Viola or another MultiNicBizConfig; the entry changes nothing.',
      'Viola 또는 다른 MultiNicBizConfig 등 다른 작성자가 이 노드의 MultiNicNodeConfig를 관리하므로 항목을 적용하지 않습니다.',
    ],
    [
      'Remove the entry if the other writer is right; else delete the MultiNicNodeConfig that the message names.',
      '다른 작성자가 맞으면 항목을 제거하고, 아니면 메시지에 표시된 MultiNicNodeConfig를 삭제하십시오.',
    ],
  ),
  NodeConfigRefused: row(
    kind,
    true,
    [
      'The API server refused the MultiNicNodeConfig of the node, or another field manager owns a label or annotation of it.',
      'API 서버가 노드의 MultiNicNodeConfig를 거부했거나 다른 필드 관리자가 레이블 또는 애노테이션을 소유하고 있습니다.',
    ],
    [
      'Follow the message; it is tried again.',
      '메시지의 내용을 확인하십시오. 자동으로 다시 시도합니다.',
    ],
  ),
  WaitingForIndex: row(
    kind,
    true,
    [
      'A NIC waits until a NIC that leaves the node has freed its index.',
      '노드에서 제거되는 NIC의 인덱스가 비워질 때까지 새 NIC가 기다립니다.',
    ],
    nothing,
  ),
  ReadOnly: row(
    kind,
    false,
    [
      'The controller keeps the MultiNicNodeConfigs of this object, and follows no edit of it.',
      '컨트롤러가 이 객체의 MultiNicNodeConfig를 유지하며 변경을 반영하지 않습니다.',
    ],
    [
      'Edit the MultiNicNodeConfigs (Viola does), or set controller.bizConfig.mode to active and remove the annotation multinic.io/biz-config-mode.',
      'MultiNicNodeConfig를 수정하거나(Viola가 수행), controller.bizConfig.mode를 active로 지정하고 multinic.io/biz-config-mode 애노테이션을 제거하십시오.',
    ],
  ),
  UnknownMode: row(
    kind,
    false,
    [
      'The annotation multinic.io/biz-config-mode has an unknown value, which counts as read-only.',
      'multinic.io/biz-config-mode 애노테이션의 값을 알 수 없어 read-only로 처리합니다.',
    ],
    ['Set it to read-only, or remove it.', 'read-only로 지정하거나 제거하십시오.'],
  ),
} as const satisfies Record<string, ReasonRow>;
