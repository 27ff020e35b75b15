import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { nextFor } from '../next-steps.ts';
import { providerOfConfig } from '../subject.ts';
import { say } from '../wording.ts';
import { type Checked, warning } from './check.ts';

/** Reports business clusters shared by several namespaces without NAMESPACE_CLUSTERS. */
export function sharedClusters(
  configs: readonly OpenstackConfig[],
  clusters: readonly ClusterView[],
): Checked {
  const shared = clusters
    .map((cluster) => ({ cluster, namespaces: namespacesIn(cluster, configs) }))
    .filter(({ namespaces }) => namespaces.length > 1);
  const isUnknown = shared.some(({ cluster }) => cluster.hasNamespaceMap === undefined);
  return {
    findings: shared
      .filter(({ cluster }) => cluster.hasNamespaceMap === false)
      .map(({ cluster: { providerId }, namespaces }) => sharing(providerId, namespaces)),
    ...(isUnknown ? { skipped: [ofEarlierOperator] } : {}),
    checks: isUnknown ? 0 : clusters.length,
  };
}

function sharing(providerId: string, namespaces: readonly string[]): Checked['findings'][number] {
  const list = namespaces.join(', ');
  const evidence = say(
    `OpenstackConfigs of the namespaces ${list} deliver to it, and the operator's NAMESPACE_CLUSTERS is not set`,
    `네임스페이스 ${list}의 OpenstackConfig가 이 클러스터에 전달하며, 오퍼레이터의 NAMESPACE_CLUSTERS가 설정되어 있지 않습니다`,
  );
  const { text, ...next } = nextFor('ClusterShared', {});
  const map = namespaces.map((namespace) => `${namespace}=${providerId}`).join(',');
  const example = say(
    `${text.en} NAMESPACE_CLUSTERS=${map} permits the present deliveries to it; add the other business clusters: a namespace without an entry delivers nowhere`,
    `${text.ko} NAMESPACE_CLUSTERS=${map}로 설정하면 이 클러스터에 대한 현재 전달이 허용됩니다. 항목이 없는 네임스페이스는 어디에도 전달할 수 없으므로 다른 비즈니스 클러스터도 추가하십시오`,
  );
  return warning(providerId, 'ClusterShared', evidence, { ...next, text: example });
}

const ofEarlierOperator = {
  what: say('namespaces of business clusters', '비즈니스 클러스터의 네임스페이스'),
  why: say(
    'the operator does not report NAMESPACE_CLUSTERS',
    '오퍼레이터가 NAMESPACE_CLUSTERS를 알려 주지 않습니다',
  ),
  next: say('upgrade the operator', '오퍼레이터를 업그레이드하십시오'),
};

/** Returns the namespaces with a delivery to the cluster, present or former. */
function namespacesIn(
  { providerId }: ClusterView,
  configs: readonly OpenstackConfig[],
): readonly string[] {
  const delivering = configs.filter(
    (config) =>
      providerOfConfig(config) === providerId || config.status?.deliveredTo?.includes(providerId),
  );
  return [...new Set(delivering.map(({ metadata }) => metadata.namespace ?? ''))].toSorted();
}
