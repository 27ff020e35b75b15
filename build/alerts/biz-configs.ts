import type { Alerts } from './alert.ts';
import { logs, nodeConfigs, systemNamespace } from './commands.ts';
import { notReady } from './expressions.ts';

/** Alerts about MultiNicBizConfigs. */
export const ofBizConfigs = {
  MultiNicBizConfigNotReady: {
    exprs: { 'multinic-agent': notReady('bizConfigs', 'MultiNicBizConfigNotReady') },
    for: '15m',
    severity: 'warning',
    summary: 'MultiNicBizConfigs are not Ready: {{ $labels.reason }}.',
    description:
      'MultiNicBizConfigs that have not been Ready for 15 minutes: {{ $value }} ({{ $labels.reason }}).',
    meaning: {
      en: 'The controller cannot use the spec or entries of it, the API server refuses a MultiNicNodeConfig, nodes failed, or removals of NICs wait for your consent.',
      ko: '컨트롤러가 스펙 또는 일부 항목을 사용할 수 없거나, API 서버가 MultiNicNodeConfig를 거부하거나, 노드가 실패했거나, NIC 제거가 동의를 기다리는 상태입니다.',
    },
    impact: {
      en: 'With `SpecUnreadable` no node of the object changes; with the other reasons only the affected nodes do not change. NICs that are configured go on working.',
      ko: '`SpecUnreadable`이면 객체의 모든 노드가, 다른 사유이면 해당 노드만 변경되지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check which objects are affected, and their reason.',
          ko: '어떤 객체인지와 사유를 확인합니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicbizconfigs.multinic.io -o wide`,
      },
      {
        say: {
          en: 'Objects of the group `multinic.okestro.io` have a CRD of their own.',
          ko: '`multinic.okestro.io` 그룹의 객체는 CRD가 따로 있습니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicbizconfigs.multinic.okestro.io -o wide`,
      },
      {
        say: {
          en: 'The message of `Ready` names fields and nodes; `status.nodeStatuses` has the reason of each node.',
          ko: '`Ready`의 메시지에 필드와 노드가, `status.nodeStatuses`에 노드별 사유가 있습니다.',
        },
        run: `kubectl -n ${systemNamespace} get multinicbizconfigs.multinic.io NAME -o yaml`,
      },
      {
        say: {
          en: 'With `NodesFailed`, check the MultiNicNodeConfig of each failed node.',
          ko: '`NodesFailed`이면 실패한 노드의 MultiNicNodeConfig를 확인합니다.',
        },
        run: nodeConfigs,
      },
      {
        say: {
          en: 'The log of the controller has each refused write.',
          ko: '거부된 쓰기는 컨트롤러 로그에 있습니다.',
        },
        run: logs.controller,
      },
    ],
    fix: [
      {
        en: 'Follow the action of the reason in the [table of reasons](../reference/reasons.md#of-a-multinicbizconfig).',
        ko: '[사유 표](../reference/reasons.ko.md#multinicbizconfig)에서 해당 사유의 조치를 따르십시오.',
      },
      {
        en: `With \`RemovalHeld\`, undo the edit, or consent: \`kubectl -n ${systemNamespace} annotate multinicbizconfigs.multinic.io NAME --overwrite multinic.io/allow-removals="$(date -u +%FT%TZ)"\`. See [MultiNicBizConfig](../guides/biz-config.md#3-remove-nodes-and-nics).`,
        ko: `\`RemovalHeld\`이면 편집을 되돌리거나 동의하십시오: \`kubectl -n ${systemNamespace} annotate multinicbizconfigs.multinic.io NAME --overwrite multinic.io/allow-removals="$(date -u +%FT%TZ)"\`. [MultiNicBizConfig](../guides/biz-config.ko.md#3-노드와-nic-제거)를 참고하십시오.`,
      },
    ],
  },
} as const satisfies Alerts;
