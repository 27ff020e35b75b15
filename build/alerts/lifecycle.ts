import type { Alerts, Inspection } from './alert.ts';
import { logs, systemNamespace } from './commands.ts';
import { leases, ofLeader } from './expressions.ts';

const lead = `multinic_leader{lease="${leases.lifecycle}"}`;

/** Fires only after a lifecycle led within a day: installations without lifecycle have no such lease. */
const ledAndLeadsNoMore = `max by (cluster) (max_over_time(${lead}[1d])) == 1 unless max by (cluster) (${lead}) == 1`;

function ofOperators(gauge: string, labels: readonly string[]): string {
  return `max by (cluster, operator) (${ofLeader(gauge, 'lifecycle', labels)}) > 0`;
}

const status: Inspection = {
  say: {
    en: 'Read `status.message` and the conditions; they name the field, object or Pod, and the action.',
    ko: '`status.message`와 conditions를 확인합니다. 필드, 객체 또는 Pod와 조치가 나와 있습니다.',
  },
  run: `kubectl -n ${systemNamespace} get multinicoperators -o yaml`,
};

const log: Inspection = {
  say: {
    en: 'The log of lifecycle has each applied or repaired object, and each request that the API server refused.',
    ko: 'lifecycle 로그에 적용하거나 복구한 객체와 API 서버가 거부한 요청이 있습니다.',
  },
  run: logs.lifecycle,
};

const theReason = {
  en: 'Follow the action for the reason of the condition `Ready` in the [table of reasons](../reference/reasons.md#of-a-multinicoperator).',
  ko: '[사유 표](../reference/reasons.ko.md#multinicoperator)에서 `Ready` 조건의 사유에 대한 조치를 따르십시오.',
};

/** Alerts about lifecycle and MultiNicOperators. */
export const ofLifecycle = {
  MultiNicLifecycleDown: {
    exprs: { 'multinic-operator': ledAndLeadsNoMore },
    for: '5m',
    severity: 'warning',
    summary: 'No MultiNIC lifecycle is running as leader.',
    description: 'For 5 minutes no lifecycle has had the lease, although one had it within a day.',
    meaning: {
      en: 'No replica of Deployment `multinic-operator` is the leader: none runs, none can get the lease, or Prometheus cannot scrape them.',
      ko: 'Deployment `multinic-operator`의 복제본 중 리더가 없습니다. 실행 중이 아니거나, 리스를 얻지 못하거나, Prometheus가 메트릭을 수집하지 못하는 상태입니다.',
    },
    impact: {
      en: 'Changes of a MultiNicOperator wait, managed objects are not repaired, and with protection enabled edits of managed objects fail (`failed calling webhook`). The operator, MariaDB and all NICs continue to work.',
      ko: 'MultiNicOperator의 변경이 반영되지 않고 복구도 이루어지지 않으며, 보호 기능이 켜져 있으면 관리 대상 객체의 수정이 실패합니다(`failed calling webhook`). 오퍼레이터, MariaDB, 모든 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check that Pods run; their events show problems with image, quota or Pod Security.',
          ko: 'Pod가 실행 중인지 확인합니다. 이미지, 쿼터, Pod Security 문제는 이벤트에 나타납니다.',
        },
        run: `kubectl -n ${systemNamespace} describe pods -l app.kubernetes.io/component=lifecycle`,
      },
      log,
      {
        say: {
          en: 'Check the holder of the lease and its last renewal.',
          ko: '리스 보유자와 마지막 갱신 시각을 확인합니다.',
        },
        run: `kubectl -n ${systemNamespace} get lease ${leases.lifecycle} -o yaml`,
      },
    ],
    fix: [
      {
        en: 'Correct the cause in the events or the log. The next leader reads all objects again and repairs those that changed meanwhile.',
        ko: '이벤트나 로그에 나온 원인을 해결하십시오. 다음 리더가 모든 상태를 다시 읽고 그동안 바뀐 객체를 복구합니다.',
      },
      {
        en: 'To edit a managed object meanwhile, delete the webhook configuration: `kubectl delete validatingwebhookconfiguration multinic-protection`. Lifecycle creates it again.',
        ko: '그동안 관리 대상 객체를 수정하려면 웹훅을 삭제하십시오: `kubectl delete validatingwebhookconfiguration multinic-protection`. lifecycle이 다시 만듭니다.',
      },
    ],
  },
  MultiNicOperatorNotRunning: {
    exprs: {
      'multinic-operator': ofOperators('multinic_operator_not_running', ['operator', 'reason']),
    },
    for: '15m',
    severity: 'warning',
    summary: 'MultiNicOperator {{ $labels.operator }} is not Running.',
    description:
      'MultiNicOperator {{ $labels.operator }} has not been Running for 15 minutes; status.message has the cause.',
    meaning: {
      en: 'The operator, MariaDB or the protection differs from the spec of the MultiNicOperator: a field has an unusable value, a Pod does not start, or the API server refuses an object.',
      ko: '오퍼레이터, MariaDB 또는 보호 기능이 MultiNicOperator에 지정한 상태가 아닙니다. 사용할 수 없는 값을 가진 필드가 있거나, Pod가 시작되지 않거나, API 서버가 객체를 거부하고 있습니다.',
    },
    impact: {
      en: 'Only the component in the message is affected. Without the operator new ports get no NIC; without MariaDB the inventory has no history. Configured NICs continue to work.',
      ko: '메시지에 나온 구성 요소만 영향을 받습니다. 오퍼레이터가 없으면 새 포트에 NIC가 설정되지 않고, MariaDB가 없으면 인벤토리 이력이 남지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      status,
      {
        say: {
          en: 'Check the managed objects and their Pods.',
          ko: '관리 대상 객체와 Pod를 확인합니다.',
        },
        run: `kubectl -n ${systemNamespace} get pods,deployments,statefulsets -l multinic.example.com/protected=true`,
      },
      log,
    ],
    fix: [theReason],
  },
  MultiNicOperatorContested: {
    exprs: { 'multinic-operator': ofOperators('multinic_operator_contested', ['operator']) },
    for: '5m',
    severity: 'warning',
    summary: 'Another program changes objects of MultiNicOperator {{ $labels.operator }}.',
    description:
      'A field manager has changed objects of MultiNicOperator {{ $labels.operator }} after each repair for 5 minutes.',
    meaning: {
      en: 'A program, such as an autoscaler, a GitOps controller or a script, changes fields that the MultiNicOperator also sets. After six repairs of a field within 10 minutes, lifecycle waits up to 10 minutes between repairs.',
      ko: '오토스케일러, GitOps 컨트롤러, 스크립트 등의 프로그램이 MultiNicOperator가 설정하는 필드를 함께 변경하고 있습니다. 10분 안에 한 필드를 여섯 번 복구하면 lifecycle은 복구 간격을 최대 10분까지 늘립니다.',
    },
    impact: {
      en: 'Most of the time the object has the value of the other program.',
      ko: '해당 객체는 대부분의 시간 동안 다른 프로그램이 설정한 값을 가집니다.',
    },
    diagnosis: [status, log],
    fix: [
      {
        en: 'Stop the field manager that the condition `Contested` names, or remove the field from the MultiNicOperator: without `spec.controller.replicas` an autoscaler owns the replicas.',
        ko: '`Contested` 조건에 나온 필드 매니저를 중지하거나 MultiNicOperator에서 해당 필드를 제거하십시오. `spec.controller.replicas`를 지정하지 않으면 오토스케일러가 복제본 수를 관리합니다.',
      },
    ],
  },
} as const satisfies Alerts;
