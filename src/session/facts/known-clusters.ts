import { namedSome } from '../../api/named-some.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { ClusterView } from '../../api/read-http.ts';
import type { Fact } from '../../explain/fact.ts';
import { suggestionFor } from '../../process/nearest.ts';
import { Failure } from '../access/failure.ts';
import type { AccessOptions } from '../access/options.ts';
import { chosenProviders } from '../access/sources.ts';

/** Objects that name business clusters. */
interface ClusterObjects {
  readonly clusters: readonly Pick<ClusterView, 'providerId'>[];
  readonly configs: readonly Pick<OpenstackConfig, 'spec'>[];
}

const shownClusters = 5;

/** Throws Failure if an access option names such a business cluster, such as `--business-context biz-9=…`. */
export function refuseUnknownChoices(
  options: AccessOptions,
  clusters: Fact<readonly ClusterView[]>,
  configs: Fact<readonly OpenstackConfig[]>,
): void {
  if (clusters.state === 'unread' || configs.state === 'unread') return;
  // Before the first OpenstackConfig no object names any cluster.
  if (configs.value.length === 0) return;
  const objects = { clusters: clusters.value, configs: configs.value };
  for (const provider of chosenProviders(options)) refuseUnknownCluster(provider, objects);
}

/** Throws Failure for a business cluster that no registration and no OpenstackConfig names. */
export function refuseUnknownCluster(cluster: string, { clusters, configs }: ClusterObjects): void {
  const known = new Set([
    ...clusters.map(({ providerId }) => providerId),
    // An OpenstackConfig without a provider delivers to the operator's default, which is unknown here.
    ...configs.map(
      ({ spec: { credentials } }) =>
        credentials.k8sProviderID ?? credentials.openstackProviderID ?? cluster,
    ),
  ]);
  if (known.has(cluster)) return;
  const all = known.size > 0 ? namedSome([...known], shownClusters) : 'none';
  throw new Failure(
    `no registration and no OpenstackConfig names the business cluster ${cluster}${suggestionFor(cluster, known)}`,
    `choose one of the business clusters that exist: ${all}`,
  );
}
