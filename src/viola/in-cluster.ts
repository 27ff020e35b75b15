import { usable } from './admit.ts';
import { toProblem } from './cluster-problem.ts';
import type { Cluster, Clusters } from './clusters.ts';

/** Runs `work` with the provider's cluster; throws its failures as problems. */
export async function inCluster<T>(
  clusters: Clusters,
  provider: string,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  return clusters.use(provider, async (lookup) => work(usable(provider, lookup)).catch(toProblem));
}
