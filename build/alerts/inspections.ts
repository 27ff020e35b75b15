import type { Alerts } from './alert.ts';
import { logs, openstackConfigs, operatorNamespace } from './commands.ts';
import { ofLeader } from './expressions.ts';

const age = ofLeader('multinic_cloud_look_age_seconds', 'operator', ['cloud']);
/** In any other mode looks may be days apart. */
const polls = ofLeader('multinic_trigger_mode{mode="immediate"}', 'operator', ['mode']);

/** Whether clouds are looked at. */
export const inspections = {
  MultiNicCloudUnread: {
    exprs: {
      'multinic-operator': `max by (cluster, cloud) (${age}) > 3600 and on (cluster) (max by (cluster) (${polls}) == 1)`,
    },
    for: '5m',
    severity: 'warning',
    summary: 'A cloud has not been read completely for an hour: {{ $labels.cloud }}.',
    description:
      'It is {{ $value | humanizeDuration }} since {{ $labels.cloud }} was read completely for any OpenstackConfig.',
    meaning: {
      en: 'Each look at this cloud fails or is incomplete, or none comes to an end. The longest poll interval is ten minutes.',
      ko: '이 클라우드의 조회가 매번 실패하거나 불완전하거나 끝나지 않습니다. 폴링 간격은 최대 10분입니다.',
    },
    impact: {
      en: 'New ports of that cloud get no NIC. Nothing is removed: unknown is not absent.',
      ko: '해당 클라우드의 새 포트에 NIC가 설정되지 않습니다. 확인되지 않은 것은 없어진 것으로 보지 않으므로 아무것도 제거하지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See what the OpenstackConfigs of this cloud say: a reason tells which service fails. If all are Ready, looks hang; `multinic_longest_running_seconds` says for how long.',
          ko: '이 클라우드의 OpenstackConfig 상태에서 실패하는 서비스의 사유를 확인합니다. 모두 Ready이면 조회가 멈춘 것이며, 지속 시간은 `multinic_longest_running_seconds`에 나타납니다.',
        },
        run: openstackConfigs,
      },
      {
        say: {
          en: 'The log has every call that failed: its service, address and error.',
          ko: '로그에 실패한 호출의 서비스, 주소, 오류가 있습니다.',
        },
        run: logs.operator,
      },
    ],
    fix: [
      {
        en: 'Do what the [table of reasons](../reference/reasons.md#of-an-openstackconfig) says about the reason. An OpenstackConfig that is not to be looked at any more is paused or deleted; its cloud counts no longer then.',
        ko: '[사유 표](../reference/reasons.ko.md#openstackconfig)에서 해당 사유의 조치를 따르십시오. 더 이상 조회하지 않을 OpenstackConfig는 일시 중지하거나 삭제하십시오. 그러면 해당 클라우드는 집계되지 않습니다.',
      },
    ],
  },
  MultiNicTriggerConfigUnusable: {
    exprs: {
      'multinic-operator': `min by (cluster) (${ofLeader('multinic_trigger_config_usable', 'operator', [])}) == 0`,
    },
    for: '5m',
    severity: 'warning',
    summary: 'What may start a look cannot be read; what held before goes on.',
    description: 'The ConfigMap multinic-operator-triggers has been unusable for 5 minutes.',
    meaning: {
      en: 'Its key `trigger.yaml` is missing, is not YAML, or has a value that cannot be used.',
      ko: '`trigger.yaml` 키가 없거나 YAML이 아니거나 사용할 수 없는 값이 있습니다.',
    },
    impact: {
      en: 'The mode that held before goes on. A process that begins anew never knew it, and polls (`immediate`).',
      ko: '이전 모드가 유지됩니다. 새로 시작한 프로세스는 이전 모드를 모르므로 폴링합니다(`immediate`).',
    },
    diagnosis: [
      {
        say: {
          en: 'An Event on the ConfigMap, and the log, name the field and the value.',
          ko: 'ConfigMap의 Event와 로그에 해당 필드와 값이 나타납니다.',
        },
        run: `kubectl -n ${operatorNamespace} describe configmap multinic-operator-triggers`,
      },
    ],
    fix: [
      {
        en: 'Correct the field; [triggers](../guides/triggers.md) shows the form. It is followed without a restart.',
        ko: '필드를 수정하십시오. 형식은 [triggers](../guides/triggers.ko.md)를 참고하십시오. 재시작은 필요 없습니다.',
      },
    ],
  },
} as const satisfies Alerts;
