import { fieldManagers } from '../../api/names.ts';
import { type ViolaFeature, violaFeature } from '../../api/node-configs-http.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import { isUndeclared, nodeConfigs } from '../node-configs/node-config.ts';
import type { Cluster } from './clusters.ts';

interface ReadOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Time limit in ms. */
  readonly withinMs: number;
}

/** Clusters whose CRD declares `spec.existingConfiguration`; an edited Secret is a new Cluster. */
const adopting = new WeakSet<Cluster>();

/**
 * Returns the features for a cluster. Adoption needs a field of the CRD: a server-side apply, validated only, shows
 * whether the CRD declares the field. Without an answer the feature is listed: a write omits an undeclared field.
 */
export async function featuresOf(cluster: Cluster, options: ReadOptions): Promise<ViolaFeature[]> {
  const declares = adopting.has(cluster) || (await declaresConsent(cluster, options));
  return violaFeature.options.filter((feature) => feature !== 'adopt' || declares);
}

const probeName = 'multinic-schema-check';

async function declaresConsent(
  cluster: Cluster,
  { clock, signal, withinMs }: ReadOptions,
): Promise<boolean> {
  const { client, namespace } = cluster;
  const probe = {
    apiVersion: apiVersionOf(nodeConfigs),
    kind: nodeConfigs.kind,
    metadata: { name: probeName, namespace },
    spec: { nodeName: probeName, interfaces: [], existingConfiguration: 'Adopt' as const },
  };
  try {
    await withDeadline({ clock, ms: withinMs, signal }, (limited) =>
      client.apply(nodeConfigs, probe, {
        fieldManager: fieldManagers.viola,
        force: false,
        dryRun: true,
        signal: limited,
      }),
    );
    adopting.add(cluster);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    return !isUndeclared(error, 'existingConfiguration');
  }
}
