import type { Alerts, Inspection } from './alert.ts';
import { logs, systemNamespace } from './commands.ts';
import { leases, ofLeader } from './expressions.ts';

const lead = `multinic_leader{lease="${leases.lifecycle}"}`;

/** Installations without lifecycle have no such lease: the alert is about one that led within a day. */
const ledAndLeadsNoMore = `max by (cluster) (max_over_time(${lead}[1d])) == 1 unless max by (cluster) (${lead}) == 1`;

function ofOperators(gauge: string, labels: readonly string[]): string {
  return `max by (cluster, operator) (${ofLeader(gauge, 'lifecycle', labels)}) > 0`;
}

const status: Inspection = {
  say: {
    en: 'Read `status.message` and the conditions; they name field, object or Pod, and what to do.',
    ko: '`status.message`와 conditions를 확인합니다. 필드, 객체 또는 Pod와 조치가 나와 있습니다.',
  },
  run: `kubectl -n ${systemNamespace} get multinicoperators -o yaml`,
};

const log: Inspection = {
  say: {
    en: 'The log of lifecycle has each object that it applied or repaired, and what the API server refused.',
    ko: 'lifecycle 로그에 적용하거나 복구한 객체와 API 서버가 거부한 내용이 있습니다.',
  },
  run: logs.lifecycle,
};

const theReason = {
  en: 'Do what the [table of reasons](../reference/reasons.md#of-a-multinicoperator) says about the reason of the condition `Ready`.',
  ko: '[사유 표](../reference/reasons.ko.md#multinicoperator)에서 `Ready` 조건의 사유에 대한 조치를 따르십시오.',
};

/** What lifecycle reports of MultiNicOperators. */
export const ofLifecycle = {
  MultiNicLifecycleDown: {
    exprs: { 'multinic-operator': ledAndLeadsNoMore },
    for: '5m',
    severity: 'warning',
    summary: 'No MultiNIC lifecycle is at work.',
    description: 'No lifecycle has held its lease for 5 minutes, and one did within a day.',
    meaning: {
      en: 'None of the replicas of Deployment `multinic-operator` leads: it does not run, cannot get its lease, or Prometheus does not reach it.',
      ko: 'Deployment `multinic-operator`의 복제본 중 리더가 없습니다. 실행 중이 아니거나, 리스를 얻지 못하거나, Prometheus가 메트릭을 수집하지 못하는 상태입니다.',
    },
    impact: {
      en: 'Changes of a MultiNicOperator wait, nothing is repaired, and with protection on edits of managed objects fail (`failed calling webhook`). The operator, MariaDB and all NICs go on working.',
      ko: 'MultiNicOperator의 변경이 반영되지 않고 복구도 이루어지지 않으며, 보호 기능이 켜져 있으면 관리 대상 객체의 수정이 실패합니다(`failed calling webhook`). 오퍼레이터, MariaDB, 모든 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See whether Pods run; their events name image, quota or Pod Security.',
          ko: 'Pod가 실행 중인지 확인합니다. 이미지, 쿼터, Pod Security 문제는 이벤트에 나타납니다.',
        },
        run: `kubectl -n ${systemNamespace} describe pods -l app.kubernetes.io/component=lifecycle`,
      },
      log,
      {
        say: {
          en: 'See who holds the lease, and when it was renewed last.',
          ko: '리스 보유자와 마지막 갱신 시각을 확인합니다.',
        },
        run: `kubectl -n ${systemNamespace} get lease ${leases.lifecycle} -o yaml`,
      },
    ],
    fix: [
      {
        en: 'Mend what the events or the log name. The next leader reads everything again and repairs what changed meanwhile.',
        ko: '이벤트나 로그에 나온 원인을 해결하십시오. 다음 리더가 모든 상태를 다시 읽고 그동안 바뀐 객체를 복구합니다.',
      },
      {
        en: 'To edit a managed object meanwhile, delete the webhook: `kubectl delete validatingwebhookconfiguration multinic-protection`. Lifecycle creates it again.',
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
    description: 'MultiNicOperator {{ $labels.operator }} has not been Running for 15 minutes.',
    meaning: {
      en: 'The operator, MariaDB or the protection is not as the MultiNicOperator specifies: a field cannot be used, a Pod does not start, or the API server refuses an object.',
      ko: '오퍼레이터, MariaDB 또는 보호 기능이 MultiNicOperator에 지정한 상태가 아닙니다. 사용할 수 없는 필드가 있거나, Pod가 시작되지 않거나, API 서버가 객체를 거부하고 있습니다.',
    },
    impact: {
      en: 'Only what the message names stands still. Without the operator new ports get no NIC; without MariaDB the inventory has no history. NICs that are configured go on working.',
      ko: '메시지에 나온 부분만 멈춥니다. 오퍼레이터가 없으면 새 포트에 NIC가 설정되지 않고, MariaDB가 없으면 인벤토리 이력이 남지 않습니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      status,
      {
        say: {
          en: 'See the managed objects and their Pods.',
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
      en: 'A program, such as an autoscaler, a GitOps controller or a script, sets fields that the MultiNicOperator sets, too. After six repairs of a field in ten minutes lifecycle waits up to 10 minutes between repairs.',
      ko: '오토스케일러, GitOps 컨트롤러, 스크립트 등의 프로그램이 MultiNicOperator가 설정하는 필드를 함께 변경하고 있습니다. 10분 안에 한 필드를 여섯 번 복구하면 lifecycle은 복구 간격을 최대 10분까지 늘립니다.',
    },
    impact: {
      en: 'The object has the value of the other program most of the time.',
      ko: '해당 객체는 대부분의 시간 동안 다른 프로그램이 설정한 값을 가집니다.',
    },
    diagnosis: [status, log],
    fix: [
      {
        en: 'Stop the field manager that the condition `Contested` names, or leave the field out of the MultiNicOperator: without `spec.controller.replicas` an autoscaler owns the replicas.',
        ko: '`Contested` 조건에 나온 필드 매니저를 중지하거나 MultiNicOperator에서 해당 필드를 빼십시오. `spec.controller.replicas`를 지정하지 않으면 오토스케일러가 복제본 수를 관리합니다.',
      },
    ],
  },
} as const satisfies Alerts;
