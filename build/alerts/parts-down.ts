import type { Alerts, Inspection } from './alert.ts';
import { logs, operatorNamespace, pods, systemNamespace } from './commands.ts';
import { leases } from './expressions.ts';

const scraping = {
  en: 'Check the targets of Prometheus, the ServiceMonitor and the NetworkPolicies.',
  ko: 'Prometheus의 targets, ServiceMonitor, NetworkPolicy를 확인하십시오.',
};

const isScraped = (namespace: string): Inspection => ({
  say: {
    en: `If Pods run and one has the lease, Prometheus cannot scrape them. ${scraping.en}`,
    ko: `Pod가 실행 중이고 리스를 보유하고 있다면 Prometheus가 수집하지 못하는 상태입니다. ${scraping.ko}`,
  },
  run: `kubectl -n ${namespace} get servicemonitors,networkpolicies`,
});

/** Viola is a Deployment without a leader. */
const isViolaScraped: Inspection = {
  say: {
    en: `If Pods are ready, Prometheus cannot scrape them. ${scraping.en}`,
    ko: `Pod가 Ready라면 Prometheus가 수집하지 못하는 상태입니다. ${scraping.ko}`,
  },
  run: `kubectl -n ${operatorNamespace} get servicemonitors,networkpolicies`,
};

const podsRun = (run: string): Inspection => ({
  say: {
    en: 'Check whether Pods run, and on which nodes.',
    ko: 'Pod가 실행 중인지, 어느 노드에 있는지 확인합니다.',
  },
  run,
});

const whyNot = (namespace: string, component: string): Inspection => ({
  say: {
    en: 'The events of a Pod show why it does not start: image, quota, volume, Pod Security.',
    ko: '시작하지 못하는 Pod는 이벤트에 원인(이미지, 쿼터, 볼륨, Pod Security)이 나타납니다.',
  },
  run: `kubectl -n ${namespace} describe pods -l app.kubernetes.io/component=${component}`,
});

const lastWords = (namespace: string, component: string): Inspection => ({
  say: {
    en: 'If a Pod restarts repeatedly, the last line of its log has the cause: an unusable setting (exit code 2), a port in use, an unreachable API server.',
    ko: '계속 재시작한다면 마지막 로그에 원인이 있습니다. 사용할 수 없는 설정(종료 코드 2), 이미 사용 중인 포트, 연결되지 않는 API 서버 등입니다.',
  },
  run: `kubectl -n ${namespace} logs -l app.kubernetes.io/component=${component} --previous --tail=20`,
});

const holder = (namespace: string, lease: string): Inspection => ({
  say: {
    en: 'Check the holder of the lease and its last renewal.',
    ko: '리스 보유자와 마지막 갱신 시각을 확인합니다.',
  },
  run: `kubectl -n ${namespace} get lease ${lease} -o yaml`,
});

const mend = {
  en: 'Correct the cause in the events or the log. No further repair is needed: the next leader reads all objects again.',
  ko: '이벤트나 로그에 나온 원인을 해결하십시오. 다음 리더가 모든 객체를 다시 읽으므로 별도의 복구 작업은 필요 없습니다.',
};

/** Alerts about stopped processes. */
export const partsDown = {
  MultiNicOperatorDown: {
    exprs: { 'multinic-operator': `absent(multinic_leader{lease="${leases.operator}"} == 1)` },
    for: '5m',
    severity: 'critical',
    summary: 'No MultiNIC operator is running as leader.',
    description: 'For 5 minutes no operator has had the lease, or Prometheus scrapes none.',
    meaning: {
      en: 'No replica of the operator is the leader: none runs, none can get the lease, or Prometheus cannot scrape them.',
      ko: '오퍼레이터 복제본 중 어느 것도 리더가 아닙니다. 실행 중이 아니거나, 리스를 얻지 못하거나, Prometheus가 메트릭을 수집하지 못하는 상태입니다.',
    },
    impact: {
      en: 'Attached and detached ports in OpenStack change nothing on nodes, and deleted OpenstackConfigs stay. Configured NICs continue to work, also after reboots.',
      ko: 'OpenStack에서 포트를 연결하거나 분리해도 노드에 반영되지 않으며, 삭제한 OpenstackConfig도 사라지지 않습니다. 이미 설정된 NIC는 재부팅 후에도 계속 동작합니다.',
    },
    diagnosis: [
      podsRun(pods.operator),
      whyNot(operatorNamespace, 'operator'),
      lastWords(operatorNamespace, 'operator'),
      holder(operatorNamespace, leases.operator),
      isScraped(operatorNamespace),
    ],
    fix: [mend],
  },
  MultiNicViolaDown: {
    exprs: { 'multinic-operator': 'absent(multinic_build_info{part="viola"})' },
    for: '5m',
    severity: 'critical',
    summary: 'Viola is down.',
    description: 'Prometheus has scraped no Pod of Viola for 5 minutes.',
    meaning: {
      en: 'No Pod of Viola answers Prometheus: none runs, or none is reachable. Viola is a stateless Deployment: any ready Pod serves all business clusters.',
      ko: 'Prometheus에 응답하는 Viola Pod가 없습니다. 실행 중인 Pod가 없거나 연결할 수 없는 상태입니다. Viola는 상태가 없는 Deployment이며, Ready인 Pod 하나가 모든 비즈니스 클러스터를 처리합니다.',
    },
    impact: {
      en: 'No business cluster receives changes, and the operator does not know the state of nodes: after three minutes the conditions Delivered and NICsReady are Unknown (`NodesNotRead`). Configured NICs continue to work: without this state the operator sends nothing.',
      ko: '모든 비즈니스 클러스터에 변경이 전달되지 않으며 오퍼레이터는 노드의 상태를 알 수 없습니다. 3분이 지나면 Delivered와 NICsReady 조건이 Unknown(`NodesNotRead`)이 됩니다. 상태를 모르면 아무것도 전송하지 않으므로 이미 설정된 NIC는 계속 동작합니다.',
    },
    diagnosis: [
      podsRun(pods.operator),
      whyNot(operatorNamespace, 'viola'),
      lastWords(operatorNamespace, 'viola'),
      {
        say: {
          en: 'If Pods run but are not ready, their log names the token file, certificate or registrations that cannot be read.',
          ko: 'Pod는 실행 중이지만 Ready가 아니라면 읽지 못한 토큰 파일, 인증서 또는 클러스터 등록 정보가 로그에 나타납니다.',
        },
        run: logs.viola,
      },
      isViolaScraped,
    ],
    fix: [
      {
        en: 'Correct the cause in the events or the log. Viola stores nothing: as soon as one Pod is ready, the operator delivers waiting changes, and reads the nodes again within a minute.',
        ko: '이벤트나 로그에 나온 원인을 해결하십시오. Viola는 상태를 저장하지 않습니다. Pod 하나가 Ready가 되면 오퍼레이터가 대기 중인 변경을 전달하고 1분 안에 노드를 다시 조회합니다.',
      },
    ],
  },
  MultiNicControllerDown: {
    exprs: { 'multinic-agent': `absent(multinic_leader{lease="${leases.controller}"} == 1)` },
    for: '5m',
    severity: 'critical',
    summary: 'No MultiNIC controller is running as leader in this cluster.',
    description: 'For 5 minutes no controller has had the lease, or Prometheus scrapes none.',
    meaning: {
      en: 'No replica of the controller is the leader: none runs, none can get the lease, or Prometheus cannot scrape them.',
      ko: '컨트롤러 복제본 중 어느 것도 리더가 아닙니다. 실행 중이 아니거나, 리스를 얻지 못하거나, Prometheus가 메트릭을 수집하지 못하는 상태입니다.',
    },
    impact: {
      en: 'MultiNicNodeConfigs are delivered but not applied, and deleted MultiNicNodeConfigs wait for their finalizer. Configured NICs continue to work, also after reboots.',
      ko: 'MultiNicNodeConfig가 전달되어도 노드에 적용되지 않고, 삭제한 객체는 finalizer 때문에 남아 있습니다. 이미 설정된 NIC는 재부팅 후에도 계속 동작합니다.',
    },
    diagnosis: [
      podsRun(pods.controller),
      whyNot(systemNamespace, 'controller'),
      lastWords(systemNamespace, 'controller'),
      holder(systemNamespace, leases.controller),
      isScraped(systemNamespace),
    ],
    fix: [mend],
  },
} as const satisfies Alerts;
