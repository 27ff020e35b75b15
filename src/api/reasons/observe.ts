import { multinic, patchConfig } from './next-step-row.ts';
import { row, type StatusReasonRow } from './reason-row.ts';

/** Reasons for nodes that agents only check. */
export const observeReasons = {
  Observed: row(
    'node',
    false,
    [
      'The spec.mode is Observe: the node is only checked, and nothing is changed on it. The message has the differences.',
      'spec.mode가 Observe이므로 노드를 점검만 하고 아무것도 변경하지 않습니다. 차이점은 메시지에 있습니다.',
    ],
    [
      'Read the differences with `kubectl multinic diff NODE`. To apply, set spec.settings.mode of the OpenstackConfig to Apply.',
      '`kubectl multinic diff NODE`로 차이점을 확인하십시오. 적용하려면 OpenstackConfig의 spec.settings.mode를 Apply로 설정하십시오.',
    ],
    {
      alerts: [],
      nextStep: [
        {
          commands: [patchConfig({ spec: { settings: { mode: 'Apply' } } })],
          preview: [multinic('plan', '{config}', '--set', 'mode=Apply')],
        },
      ],
    },
  ),
} as const satisfies Record<string, StatusReasonRow>;
