import { nothing, row, type StatusReasonRow } from './reason-row.ts';

const kind = 'multinicbizconfig';

/** Reasons for a MultiNicBizConfig. */
export const multiNicBizConfigReasons = {
  AllNodesConfigured: row(
    kind,
    false,
    [
      'Every node in spec.nodeConfigs is configured, or the list is empty.',
      'spec.nodeConfigs의 모든 노드가 설정되었거나 목록이 비어 있습니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  ProcessingNodes: row(
    kind,
    true,
    [
      'Nodes in spec.nodeConfigs are pending or in progress.',
      'spec.nodeConfigs의 일부 노드가 대기 중이거나 처리 중입니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  NodesFailed: row(
    kind,
    true,
    [
      'Nodes in spec.nodeConfigs failed; the controller retries them.',
      'spec.nodeConfigs의 일부 노드가 실패했으며 컨트롤러가 다시 시도합니다.',
    ],
    [
      'Check status.nodeStatuses and the MultiNicNodeConfig of each failed node.',
      'status.nodeStatuses와 실패한 각 노드의 MultiNicNodeConfig를 확인하십시오.',
    ],
    { alerts: ['MultiNicBizConfigNotReady'] },
  ),
  EntriesRefused: row(
    kind,
    false,
    [
      'Entries of spec.nodeConfigs cannot be used; the NICs of their nodes stay, and the other nodes are processed.',
      'spec.nodeConfigs의 일부 항목을 사용할 수 없습니다. 해당 노드의 NIC는 유지되고 나머지 노드는 처리됩니다.',
    ],
    [
      'Correct the fields that status.nodeStatuses names.',
      'status.nodeStatuses에 표시된 필드를 수정하십시오.',
    ],
    { alerts: ['MultiNicBizConfigNotReady'] },
  ),
  SpecUnreadable: row(
    kind,
    false,
    [
      'The spec has a field of the wrong type; no MultiNicNodeConfig changes.',
      'spec에 형식이 잘못된 필드가 있어 MultiNicNodeConfig를 변경하지 않습니다.',
    ],
    ['Correct the field that the message names.', '메시지에 표시된 필드를 수정하십시오.'],
    { alerts: ['MultiNicBizConfigNotReady'] },
  ),
  NodeConfigWins: row(
    kind,
    false,
    [
      'Another writer, such as Viola or another MultiNicBizConfig, manages the MultiNicNodeConfig of the node; the entry is ignored.',
      'Viola 또는 다른 MultiNicBizConfig 등 다른 작성자가 이 노드의 MultiNicNodeConfig를 관리하므로 항목을 적용하지 않습니다.',
    ],
    [
      'Remove the entry; or, if this object is to configure the node, delete the MultiNicNodeConfig that the message names.',
      '항목을 제거하거나, 이 객체로 노드를 설정하려면 메시지에 표시된 MultiNicNodeConfig를 삭제하십시오.',
    ],
    { alerts: [] },
  ),
  NodeConfigRefused: row(
    kind,
    true,
    [
      'The API server refused the MultiNicNodeConfig of the node, or another field manager owns one of its labels or annotations.',
      'API 서버가 노드의 MultiNicNodeConfig를 거부했거나 다른 필드 매니저가 레이블 또는 어노테이션을 소유하고 있습니다.',
    ],
    [
      'Follow the message; the controller retries.',
      '메시지의 내용을 확인하십시오. 자동으로 다시 시도합니다.',
    ],
    { alerts: ['MultiNicBizConfigNotReady'] },
  ),
  WaitingForIndex: row(
    kind,
    true,
    [
      'A new NIC waits until the node has removed the NIC that still uses its index.',
      '같은 인덱스를 쓰는 NIC가 노드에서 제거될 때까지 새 NIC가 기다립니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  ReadOnly: row(
    kind,
    false,
    [
      'The controller leaves the MultiNicNodeConfigs of this object unchanged and ignores edits of this object.',
      '컨트롤러가 이 객체의 MultiNicNodeConfig를 그대로 두고 이 객체의 변경을 반영하지 않습니다.',
    ],
    [
      'Edit the MultiNicNodeConfigs instead (Viola writes them), or set controller.bizConfig.mode to active and remove the annotation multinic.io/biz-config-mode.',
      '대신 MultiNicNodeConfig를 수정하거나(Viola가 기록), controller.bizConfig.mode를 active로 설정하고 multinic.io/biz-config-mode 어노테이션을 제거하십시오.',
    ],
    { alerts: [] },
  ),
  UnknownMode: row(
    kind,
    false,
    [
      'The annotation multinic.io/biz-config-mode has an unknown value, which counts as read-only.',
      'multinic.io/biz-config-mode 어노테이션의 값을 알 수 없어 read-only로 처리합니다.',
    ],
    [
      'Set the annotation to read-only, or remove it.',
      '어노테이션을 read-only로 설정하거나 제거하십시오.',
    ],
    { alerts: [] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
