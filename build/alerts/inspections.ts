import type { Alerts } from './alert.ts';
import { logs, openstackConfigs, operatorNamespace } from './commands.ts';
import { ofLeader } from './expressions.ts';

const age = ofLeader('multinic_cloud_look_age_seconds', 'operator', ['cloud']);
/** In any other mode syncs may be days apart. */
const polls = ofLeader('multinic_trigger_mode{mode="immediate"}', 'operator', ['mode']);

/** Alerts about clouds that are not read. */
export const inspections = {
  MultiNicCloudUnread: {
    exprs: {
      'multinic-operator': `max by (cluster, cloud) (${age}) > 3600 and on (cluster) (max by (cluster) (${polls}) == 1)`,
    },
    for: '5m',
    severity: 'warning',
    summary: 'A cloud has not been read completely for an hour: {{ $labels.cloud }}.',
    description:
      '{{ $labels.cloud }} was last read completely {{ $value | humanizeDuration }} ago.',
    meaning: {
      en: 'Each read of this cloud fails, is incomplete, or hangs. The longest poll interval is ten minutes.',
      ko: '이 클라우드의 조회가 매번 실패하거나 불완전하거나 끝나지 않습니다. 폴링 간격은 최대 10분입니다.',
    },
    impact: {
      en: 'New ports of that cloud get no NIC. No NIC is removed: MultiNIC does not treat unknown ports as deleted.',
      ko: '해당 클라우드의 새 포트에 NIC가 설정되지 않습니다. 확인되지 않은 포트를 삭제된 것으로 보지 않으므로 NIC는 제거하지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check the OpenstackConfigs of this cloud: the reason shows which service fails. If all are Ready, a sync hangs; `multinic_longest_running_seconds` has its duration.',
          ko: '이 클라우드의 OpenstackConfig 상태에서 실패하는 서비스의 사유를 확인합니다. 모두 Ready이면 동기화가 멈춘 것이며, 지속 시간은 `multinic_longest_running_seconds`에 나타납니다.',
        },
        run: openstackConfigs,
      },
      {
        say: {
          en: 'The log has service, address and error of each failed call.',
          ko: '로그에 실패한 호출의 서비스, 주소, 오류가 있습니다.',
        },
        run: logs.operator,
      },
    ],
    fix: [
      {
        en: 'Follow the action of the reason in the [table of reasons](../reference/reasons.md#of-an-openstackconfig). If an OpenstackConfig is no longer needed, pause or delete it; the alert then ignores its cloud.',
        ko: '[사유 표](../reference/reasons.ko.md#openstackconfig)에서 해당 사유의 조치를 따르십시오. 더 이상 필요하지 않은 OpenstackConfig는 일시 중지하거나 삭제하십시오. 그러면 해당 클라우드는 알림에서 제외됩니다.',
      },
    ],
  },
  MultiNicTriggerConfigUnusable: {
    exprs: {
      'multinic-operator': `min by (cluster) (${ofLeader('multinic_trigger_config_usable', 'operator', [])}) == 0`,
    },
    for: '5m',
    severity: 'warning',
    summary: 'The trigger configuration of the operator cannot be used.',
    description:
      'The ConfigMap multinic-operator-triggers has been unusable for 5 minutes; the Event on it names the error.',
    meaning: {
      en: 'The key `trigger.yaml` of ConfigMap `multinic-operator-triggers`, which sets when OpenstackConfigs are synced, is missing, is not YAML, or has an unusable value.',
      ko: 'OpenstackConfig를 동기화하는 시점을 정하는 ConfigMap `multinic-operator-triggers`의 `trigger.yaml` 키가 없거나, YAML이 아니거나, 사용할 수 없는 값이 있습니다.',
    },
    impact: {
      en: 'The previous mode stays in effect. An operator that restarts does not know it and works in mode `manual`: it syncs an OpenstackConfig only when it is new or edited, or a sync is requested, and does not poll. New ports then get no NIC until such a sync.',
      ko: '이전 모드가 유지됩니다. 재시작한 오퍼레이터는 이전 모드를 모르므로 `manual` 모드로 동작합니다. OpenstackConfig를 만들거나 편집하거나 동기화를 요청할 때만 동기화하고 폴링하지 않으므로, 그때까지 새 포트에 NIC가 설정되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'An Event on the ConfigMap and the log name field and value.',
          ko: 'ConfigMap의 Event와 로그에 해당 필드와 값이 나타납니다.',
        },
        run: `kubectl -n ${operatorNamespace} describe configmap multinic-operator-triggers`,
      },
    ],
    fix: [
      {
        en: 'Correct the field; [triggers](../guides/triggers.md) shows the form. No restart is needed.',
        ko: '필드를 수정하십시오. 형식은 [triggers](../guides/triggers.ko.md)를 참고하십시오. 재시작은 필요 없습니다.',
      },
    ],
  },
} as const satisfies Alerts;
