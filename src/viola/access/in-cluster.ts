import type { Cluster, Clusters } from '../clusters/clusters.ts';
import { toProblem } from '../clusters/problem.ts';
import { usable } from './admit.ts';

/** Runs `work` with the provider's cluster; throws its failures as problems. */
export async function inCluster<T>(
  clusters: Clusters,
  provider: string,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  return clusters.use(provider, async (lookup) => work(usable(provider, lookup)).catch(toProblem));
}
