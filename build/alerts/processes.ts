import type { Alerts, Chart, Inspection } from './alert.ts';
import { agentsNamespace, logs, operatorNamespace, systemNamespace } from './commands.ts';
import { leases, ofLeader } from './expressions.ts';

/** Process with lease, queue and watches, by chart. */
const leaders = {
  'multinic-operator': { part: 'operator', controller: 'openstack-config' },
  'multinic-agent': { part: 'controller', controller: 'node-config' },
} as const;

type Leader = (typeof leaders)[Chart];

/** Controllers of a chart, as `multinic_reconcile_total` names them. */
export const controllersOf = {
  'multinic-operator': ['openstack-config', 'multinicoperator'],
  'multinic-agent': ['node-config', 'drift', 'biz-config'],
} as const satisfies Readonly<Record<Chart, readonly string[]>>;

/** The queue retries a failing object at most 6 minutes after a failure: 10 minutes contain a failure. */
function failingReconciles(chart: Chart): string {
  const failed = `multinic_reconcile_total{controller=~"${controllersOf[chart].join('|')}",result="error"}`;
  return `sum by (cluster, controller) (increase(${failed}[10m])) > 0`;
}

function ofEachLeader(expr: (leader: Leader) => string): Readonly<Record<Chart, string>> {
  return {
    'multinic-operator': expr(leaders['multinic-operator']),
    'multinic-agent': expr(leaders['multinic-agent']),
  };
}

function slowRenewals({ part }: Leader): string {
  const name = 'multinic_lease_renewal_duration_seconds_bucket';
  const rate = `rate(${name}{lease="${leases[part]}"}[10m])`;
  return `histogram_quantile(0.9, sum by (cluster, lease, le) (${rate})) > 3`;
}

function silence({ part }: Leader): string {
  const silent = ofLeader('multinic_reflector_silence_seconds', part, ['kind']);
  return `max by (cluster, kind) (${silent}) > 120`;
}

function hangingWork({ controller }: Leader): string {
  return `max by (cluster, controller) (multinic_longest_running_seconds{controller="${controller}"}) > 600`;
}

function fullHeap(parts: string): string {
  const limit = `multinic_heap_limit_bytes{part=~"${parts}"}`;
  const used = 'min_over_time(nodejs_heap_size_used_bytes[30m])';
  return `max by (cluster, part) (${used} / ignoring (part) group_right () ${limit}) > 0.85`;
}

/** Commands that list the rights in the objects' namespaces; without -n kubectl lists rights in `default`. */
const rightsToWatch = [
  rightsIn(systemNamespace, `${systemNamespace}:multinic-agent`),
  rightsIn(agentsNamespace, `${systemNamespace}:multinic-agent`),
  rightsIn(systemNamespace, `${operatorNamespace}:multinic-operator`),
];

function rightsIn(namespace: string, account: string): string {
  return `kubectl -n ${namespace} auth can-i --list --as=system:serviceaccount:${account}`;
}

const log = (part: 'operator' | 'controller', say: Inspection['say']): Inspection => ({
  say,
  run: logs[part],
});

/** Alerts about any process with leader election. */
export const ofProcesses = {
  MultiNicLeaseRenewalSlow: {
    exprs: ofEachLeader(slowRenewals),
    for: '10m',
    severity: 'warning',
    summary: 'The API server is slow to renew the lease {{ $labels.lease }}.',
    description:
      'For 10 minutes 10 % of the renewals of {{ $labels.lease }} have taken more than 3 s; a leader steps down after 10 s.',
    meaning: {
      en: 'The API server or its etcd answers slowly. A leader that cannot renew its lease for 10 s steps down.',
      ko: 'API 서버 또는 etcd의 응답이 느립니다. 10초 동안 리스를 갱신하지 못한 리더는 물러납니다.',
    },
    impact: {
      en: 'None yet. If renewals become slower, the process restarts repeatedly, and no change is applied to nodes meanwhile.',
      ko: '아직 영향은 없습니다. 더 느려지면 해당 프로세스가 재시작을 반복하며 그동안 노드에 변경이 적용되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check whether the API server is slow for other clients, too: etcd disk, load, webhooks.',
          ko: '다른 클라이언트에서도 API 서버가 느린지 확인합니다(etcd 디스크, 부하, webhook).',
        },
        run: "kubectl get --raw='/readyz?verbose'",
      },
      log('operator', {
        en: 'The log of the operator (in a business cluster: of the controller) has each failed renewal and its cause.',
        ko: '실패한 갱신과 원인은 오퍼레이터 로그에 있습니다(비즈니스 클러스터에서는 컨트롤러 로그).',
      }),
    ],
    fix: [
      {
        en: 'Repair the control plane. If it is slow permanently (for example a remote etcd), raise `LEASE_DURATION`. The failover after the death of a leader then takes longer, too.',
        ko: '컨트롤 플레인을 정상화하십시오. 환경상 계속 느리다면(원거리 etcd 등) `LEASE_DURATION`을 늘리십시오. 리더 장애 시 다음 리더가 동작하기까지의 시간도 길어집니다.',
      },
    ],
  },
  MultiNicWatchSilent: {
    exprs: ofEachLeader(silence),
    for: '5m',
    severity: 'warning',
    summary: 'MultiNIC receives no changes of {{ $labels.kind }}.',
    description:
      'The leader has received no answer from the API server about {{ $labels.kind }} for more than 2 minutes.',
    meaning: {
      en: 'The process is the leader, but the list or watch of a kind fails or hangs: its right was revoked, its CRD was deleted, or a proxy or firewall drops long connections.',
      ko: '리더로 동작하지만 특정 종류의 목록 조회 또는 watch가 실패하거나 멈춰 있습니다. 권한이 회수되었거나, CRD가 없거나, 프록시나 방화벽이 장시간 연결을 끊는 경우입니다.',
    },
    impact: {
      en: 'The process works with outdated objects: it does not notice changes of that kind.',
      ko: '프로세스가 마지막으로 확인한 객체로 동작하므로 해당 종류의 변경을 알 수 없습니다.',
    },
    diagnosis: [
      log('controller', {
        en: 'The log of the controller (in the management cluster: of the operator) has the error of each attempt.',
        ko: '시도할 때마다 발생한 오류는 컨트롤러 로그에 있습니다(관리 클러스터에서는 오퍼레이터 로그).',
      }),
      {
        say: {
          en: 'Check that its ServiceAccount may list and watch: the first two commands are for the controller, the last one for the operator (with `--watch-namespace`, use that namespace).',
          ko: 'ServiceAccount에 list와 watch 권한이 있는지 확인합니다. 앞의 두 명령은 컨트롤러, 마지막은 오퍼레이터용입니다(`--watch-namespace`를 지정했다면 해당 네임스페이스로 바꾸십시오).',
        },
        run: rightsToWatch.join('; '),
      },
      {
        say: {
          en: 'Check that the CRDs are installed.',
          ko: 'CRD가 설치되어 있는지 확인합니다.',
        },
        run: 'kubectl get crds multinicnodeconfigs.multinic.io openstackconfigs.multinic.example.com',
      },
    ],
    fix: [
      {
        en: 'Restore rights and CRDs with `helm upgrade`. The process then continues automatically.',
        ko: '`helm upgrade`로 권한과 CRD를 복구하십시오. 이후 자동으로 진행됩니다.',
      },
    ],
  },
  MultiNicWorkHanging: {
    exprs: ofEachLeader(hangingWork),
    for: '5m',
    severity: 'warning',
    summary: 'One reconcile of {{ $labels.controller }} does not end.',
    description: 'The reconcile of an object has run for {{ $value | humanizeDuration }}.',
    meaning: {
      en: 'A worker hangs in a reconcile. Each call has a timeout, so the cause is a very slow service with very many pages, or a bug in MultiNIC.',
      ko: '작업자 하나가 reconcile 중에 멈춰 있습니다. 모든 호출에는 제한 시간이 있으므로, 페이지가 매우 많은 느린 서비스이거나 MultiNIC의 결함입니다.',
    },
    impact: {
      en: 'Changes of this object are not processed, and one worker less processes the other objects.',
      ko: '해당 객체에 변경이 반영되지 않으며, 나머지 작업은 작업자가 하나 줄어든 상태로 처리됩니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Compare with the duration of calls in Prometheus: `multinic_openstack_request_duration_seconds`, `multinic_kube_request_duration_seconds`.',
          ko: 'Prometheus에서 호출 시간(`multinic_openstack_request_duration_seconds`, `multinic_kube_request_duration_seconds`)과 비교합니다.',
        },
      },
      log('operator', {
        en: 'Save the log of the process; the bug report needs it.',
        ko: '해당 프로세스의 로그를 저장하십시오. 결함 보고에 필요합니다.',
      }),
    ],
    fix: [
      {
        en: `Restart the process, which loses no data: \`kubectl -n ${operatorNamespace} rollout restart deployment/multinic-operator-controller-manager\`, or \`kubectl -n ${systemNamespace} rollout restart deployment/multinic-agent-controller\`. Report the bug with the log.`,
        ko: `해당 프로세스를 재시작하십시오. 잃는 정보는 없습니다: \`kubectl -n ${operatorNamespace} rollout restart deployment/multinic-operator-controller-manager\` 또는 \`kubectl -n ${systemNamespace} rollout restart deployment/multinic-agent-controller\`. 로그와 함께 결함을 보고하십시오.`,
      },
    ],
  },
  MultiNicReconcileFailing: {
    exprs: {
      'multinic-operator': failingReconciles('multinic-operator'),
      'multinic-agent': failingReconciles('multinic-agent'),
    },
    for: '15m',
    severity: 'warning',
    summary: 'Reconciles of {{ $labels.controller }} fail.',
    description:
      'For 15 minutes reconciles of {{ $labels.controller }} have failed; failures in 10 minutes: {{ $value | humanize }}.',
    meaning: {
      en: 'A reconcile ends with an error before it can report a reason in the status: the API server refuses a write, or answers with errors. `controller` is `openstack-config`, `multinicoperator`, `node-config`, `drift` (checks of nodes) or `biz-config` (MultiNicBizConfigs).',
      ko: 'reconcile이 상태에 사유를 기록하기 전에 오류로 끝납니다. API 서버가 쓰기를 거부하거나 오류로 응답하는 상태입니다. `controller`는 `openstack-config`, `multinicoperator`, `node-config`, `drift`(노드 점검), `biz-config`(MultiNicBizConfig) 중 하나입니다.',
    },
    impact: {
      en: 'Changes of the failing objects are not processed, and their status may be outdated. MultiNIC retries each object at least every 6 minutes. NICs that are configured go on working.',
      ko: '실패하는 객체의 변경이 처리되지 않고 상태가 최신이 아닐 수 있습니다. 객체마다 늦어도 6분 간격으로 다시 시도합니다. 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log has `reconcile failed, will retry` with object and error: of operator and lifecycle in the management cluster, of the controller in a business cluster.',
          ko: '로그의 `reconcile failed, will retry`에 객체와 오류가 있습니다. 관리 클러스터에서는 오퍼레이터와 lifecycle, 비즈니스 클러스터에서는 컨트롤러의 로그입니다.',
        },
        run: `${logs.operator}; ${logs.lifecycle}; ${logs.controller}`,
      },
      {
        say: {
          en: 'Check whether the API server accepts writes: etcd, webhooks, quotas.',
          ko: 'API 서버가 쓰기를 받아들이는지 확인합니다(etcd, webhook, 쿼터).',
        },
        run: "kubectl get --raw='/readyz?verbose'",
      },
      {
        say: {
          en: 'In `multinic_kube_requests_total`, status 0 means no answer, 403 a missing right, 409 a conflict with another writer.',
          ko: '`multinic_kube_requests_total`의 status 0은 응답 없음, 403은 권한 부족, 409는 다른 작성자와의 충돌을 뜻합니다.',
        },
      },
    ],
    fix: [
      {
        en: 'Correct the cause that the error names. With 403, restore the rights with `helm upgrade`; see [MultiNicRightsMissing](MultiNicRightsMissing.md).',
        ko: '오류에 나타난 원인을 해결하십시오. 403이면 `helm upgrade`로 권한을 복구하십시오. [MultiNicRightsMissing](MultiNicRightsMissing.ko.md)을 참고하십시오.',
      },
      {
        en: 'If the error is none of Kubernetes, report the bug with the log.',
        ko: 'Kubernetes의 오류가 아니면 로그와 함께 결함을 보고하십시오.',
      },
    ],
  },
  MultiNicHeapNearlyFull: {
    exprs: {
      'multinic-operator': fullHeap('operator|viola'),
      'multinic-agent': fullHeap('controller'),
    },
    for: '15m',
    severity: 'warning',
    summary: 'The heap of {{ $labels.part }} is nearly full.',
    description:
      'For 30 minutes the heap of {{ $labels.part }} has not been below {{ $value | humanizePercentage }} of its limit.',
    meaning: {
      en: 'The minimum heap use over 30 minutes, that is the memory in use after garbage collection, is near the limit of the process (`--max-old-space-size`).',
      ko: '30분간의 최소 사용량, 즉 가비지 수집 후에도 남는 메모리가 프로세스의 한도(`--max-old-space-size`)에 가깝습니다.',
    },
    impact: {
      en: 'The process spends much time on garbage collection; at the limit it ends and restarts.',
      ko: '가비지 수집에 많은 시간을 쓰며 한도에 도달하면 프로세스가 종료되고 다시 시작합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Compare with the number of objects, each kind in its own cluster: the default limits are for 10,000 nodes.',
          ko: '객체 수와 비교합니다. 종류마다 해당 클러스터에서 실행하십시오. 기본 한도는 노드 10,000개 기준입니다.',
        },
        run: 'kubectl get openstackconfigs -A --no-headers | wc -l; kubectl get multinicnodeconfigs -A --no-headers | wc -l',
      },
      {
        say: {
          en: 'Check whether Pods were restarted.',
          ko: 'Pod가 이미 재시작되었는지 확인합니다.',
        },
        run: 'kubectl get pods -A -l app.kubernetes.io/part-of=multinic',
      },
    ],
    fix: [
      {
        en: 'Raise `heap.old` and `resources.limits.memory` of the process in the values of the chart. Use that grows without more objects is a memory leak: report it.',
        ko: '차트 값에서 해당 프로세스의 `heap.old`와 `resources.limits.memory`를 늘리십시오. 객체가 늘지 않는데 사용량이 계속 증가하면 메모리 누수이므로 보고하십시오.',
      },
    ],
  },
} as const satisfies Alerts;
