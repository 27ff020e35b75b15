import { nothing, row, type StatusReasonRow } from './reason-row.ts';

/** Event reasons for multinic.io/check-nodes on an OpenstackConfig. */
export const checkReasons = {
  ChecksRequested: row(
    'openstackconfig',
    false,
    [
      'The operator has requested checks of the nodes that the annotation multinic.io/check-nodes names.',
      '오퍼레이터가 multinic.io/check-nodes 어노테이션에 지정된 노드의 검사를 요청했습니다.',
    ],
    nothing,
    { alerts: [] },
  ),
  CheckNodesRefused: row(
    'openstackconfig',
    false,
    [
      'The annotation multinic.io/check-nodes cannot be used, or names nodes that are not checked.',
      'multinic.io/check-nodes 어노테이션을 사용할 수 없거나, 지정된 노드 중 검사하지 않는 노드가 있습니다.',
    ],
    [
      'Correct what the message names, and set the annotation with a new id.',
      '메시지에 표시된 항목을 수정하고 새 id로 어노테이션을 설정하십시오.',
    ],
    { alerts: [] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
