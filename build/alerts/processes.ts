import type { Alerts, Chart, Inspection } from './alert.ts';
import { agentsNamespace, logs, operatorNamespace, systemNamespace } from './commands.ts';
import { leases, ofLeader } from './expressions.ts';

/** What has a lease, a queue and watches of its own, by chart. */
const leaders = {
  'multinic-operator': { part: 'operator', controller: 'openstack-config' },
  'multinic-agent': { part: 'controller', controller: 'node-config' },
} as const;

type Leader = (typeof leaders)[Chart];

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

/** The rights to watch lie where the objects are: without a namespace those of `default` are listed. */
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

/** What may go wrong in any process that leads. */
export const ofProcesses = {
  MultiNicLeaseRenewalSlow: {
    exprs: ofEachLeader(slowRenewals),
    for: '10m',
    severity: 'warning',
    summary: 'The API server is slow to renew the lease {{ $labels.lease }}.',
    description:
      'One renewal of {{ $labels.lease }} in ten has taken more than 3 s for 10 minutes; leadership is lost at 10 s.',
    meaning: {
      en: 'The API server or its etcd answers slowly. A leader that cannot renew its lease for ten seconds stands down.',
      ko: 'API 서버 또는 etcd의 응답이 느립니다. 10초 동안 리스를 갱신하지 못한 리더는 물러납니다.',
    },
    impact: {
      en: 'Nothing yet. If it gets worse the part stops and starts again and again, and nothing is changed on nodes meanwhile.',
      ko: '아직 영향은 없습니다. 더 느려지면 해당 프로세스가 멈췄다 다시 시작하기를 반복하며 그동안 노드에 변경이 적용되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See whether the API server is slow for everybody: etcd disk, load, webhooks.',
          ko: '다른 클라이언트에서도 API 서버가 느린지 확인합니다(etcd 디스크, 부하, webhook).',
        },
        run: "kubectl get --raw='/readyz?verbose'",
      },
      log('operator', {
        en: 'The log of the operator (in a business cluster: of the controller) says which renewals failed, and why.',
        ko: '실패한 갱신과 원인은 오퍼레이터 로그에 있습니다(비즈 클러스터에서는 컨트롤러 로그).',
      }),
    ],
    fix: [
      {
        en: 'Mend the control plane. Where it is slow for good (a far etcd), raise `LEASE_DURATION`: everything about the lease grows with it, also how long a leader that died is waited for.',
        ko: '컨트롤 플레인을 정상화하십시오. 환경상 계속 느리다면(원거리 etcd 등) `LEASE_DURATION`을 늘리십시오. 리더 장애 시 대기 시간도 함께 길어집니다.',
      },
    ],
  },
  MultiNicWatchSilent: {
    exprs: ofEachLeader(silence),
    for: '5m',
    severity: 'warning',
    summary: 'MultiNIC does not hear of changes to {{ $labels.kind }}.',
    description:
      'The leader has not heard from the API server about {{ $labels.kind }} for more than two minutes.',
    meaning: {
      en: 'The process leads, but the list or watch of a kind fails or hangs: its right was taken away, its CRD is gone, or something between cuts long connections silently.',
      ko: '리더로 동작하지만 특정 종류의 목록 조회 또는 watch가 실패하거나 멈춰 있습니다. 권한이 회수되었거나, CRD가 없거나, 중간 장비가 장기 연결을 끊는 경우입니다.',
    },
    impact: {
      en: 'It works with what it knew then: changes of that kind are not seen.',
      ko: '마지막으로 확인한 내용으로 동작하므로 해당 종류의 변경을 알 수 없습니다.',
    },
    diagnosis: [
      log('controller', {
        en: 'The log of the controller (in the management cluster: of the operator) has the error of each try.',
        ko: '시도할 때마다 발생한 오류는 컨트롤러 로그에 있습니다(관리 클러스터에서는 오퍼레이터 로그).',
      }),
      {
        say: {
          en: 'See whether its ServiceAccount may list and watch: the controller (the first two), the operator (the last one; with `--watch-namespace`, in that one).',
          ko: 'ServiceAccount에 list와 watch 권한이 있는지 확인합니다. 앞의 두 명령은 컨트롤러, 마지막은 오퍼레이터용입니다(`--watch-namespace`를 지정했다면 해당 네임스페이스로 바꾸십시오).',
        },
        run: rightsToWatch.join('; '),
      },
      {
        say: {
          en: 'See whether the kinds are installed.',
          ko: 'CRD가 설치되어 있는지 확인합니다.',
        },
        run: 'kubectl get crds multinicnodeconfigs.multinic.io openstackconfigs.multinic.example.com',
      },
    ],
    fix: [
      {
        en: 'Restore rights and CRDs with `helm upgrade`. It goes on by itself.',
        ko: '`helm upgrade`로 권한과 CRD를 복구하십시오. 이후 자동으로 진행됩니다.',
      },
    ],
  },
  MultiNicWorkHanging: {
    exprs: ofEachLeader(hangingWork),
    for: '5m',
    severity: 'warning',
    summary: 'One reconcile of {{ $labels.controller }} does not end.',
    description: 'One object has been worked on for {{ $value | humanizeDuration }}.',
    meaning: {
      en: 'A worker waits for something that has no end. Every call has a time limit, so that this is a very slow service with very many pages, or a fault of ours.',
      ko: '작업자 하나가 끝나지 않는 작업을 기다리고 있습니다. 모든 호출에는 제한 시간이 있으므로, 페이지가 매우 많은 느린 서비스이거나 제품 결함입니다.',
    },
    impact: {
      en: 'This object gets no changes, and one worker less does the rest.',
      ko: '해당 객체에 변경이 반영되지 않으며, 나머지 작업은 작업자가 하나 줄어든 상태로 처리됩니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Compare in Prometheus with how long calls take: `multinic_openstack_request_duration_seconds`, `multinic_kube_request_duration_seconds`.',
          ko: 'Prometheus에서 호출 시간(`multinic_openstack_request_duration_seconds`, `multinic_kube_request_duration_seconds`)과 비교합니다.',
        },
      },
      log('operator', {
        en: 'Keep the log of the part: whoever mends the fault needs it.',
        ko: '해당 프로세스의 로그를 보관하십시오. 결함을 수정할 때 필요합니다.',
      }),
    ],
    fix: [
      {
        en: `Restart the part, which loses nothing: \`kubectl -n ${operatorNamespace} rollout restart deployment/multinic-operator-controller-manager\`, or \`kubectl -n ${systemNamespace} rollout restart deployment/multinic-agent-controller\`. Report it with the log.`,
        ko: `해당 프로세스를 재시작하십시오. 잃는 정보는 없습니다: \`kubectl -n ${operatorNamespace} rollout restart deployment/multinic-operator-controller-manager\` 또는 \`kubectl -n ${systemNamespace} rollout restart deployment/multinic-agent-controller\`. 로그와 함께 결함을 보고하십시오.`,
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
      'What {{ $labels.part }} keeps in memory has not been below {{ $value | humanizePercentage }} of its limit for half an hour.',
    meaning: {
      en: 'The least that was in use in half an hour, so what stays after garbage was collected, is near the limit that the process was started with (`--max-old-space-size`).',
      ko: '30분간의 최소 사용량, 즉 가비지 수집 후에도 남는 메모리가 프로세스의 한도(`--max-old-space-size`)에 가깝습니다.',
    },
    impact: {
      en: 'Much time goes into collecting garbage, and at the limit the process ends and starts again.',
      ko: '가비지 수집에 많은 시간을 쓰며 한도에 도달하면 프로세스가 종료되고 다시 시작합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Compare with how many objects there are, each kind in its own cluster: the limits are made for 10,000 nodes.',
          ko: '객체 수와 비교합니다. 종류마다 해당 클러스터에서 실행하십시오. 기본 한도는 노드 10,000개 기준입니다.',
        },
        run: 'kubectl get openstackconfigs -A --no-headers | wc -l; kubectl get multinicnodeconfigs -A --no-headers | wc -l',
      },
      {
        say: {
          en: 'See whether Pods were restarted already.',
          ko: 'Pod가 이미 재시작되었는지 확인합니다.',
        },
        run: 'kubectl get pods -A -l app.kubernetes.io/part-of=multinic',
      },
    ],
    fix: [
      {
        en: 'Raise `heap.old` and `resources.limits.memory` of the part in the values of the chart. A use that grows without more objects is a leak: report it.',
        ko: '차트 값에서 해당 파트의 `heap.old`와 `resources.limits.memory`를 늘리십시오. 객체가 늘지 않는데 사용량이 계속 증가하면 메모리 누수이므로 보고하십시오.',
      },
    ],
  },
} as const satisfies Alerts;
