import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import { nextFor } from '../next-steps.ts';
import { providerOfConfig } from '../subject.ts';
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
  const evidence = filled(doctorTexts.clusterShared, { list });
  const { text, ...next } = nextFor('ClusterShared', {});
  const map = namespaces.map((namespace) => `${namespace}=${providerId}`).join(',');
  const example = filled(doctorTexts.namespaceMap, { text, map });
  return warning(providerId, 'ClusterShared', evidence, { ...next, text: example });
}

const ofEarlierOperator = {
  what: doctorTexts.namespacesOfClusters,
  why: doctorTexts.mapNotReported,
  next: doctorTexts.upgradeOperator,
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
