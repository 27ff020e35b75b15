import type { ViolaFeature } from '../../../api/node-configs-http.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import { DeadlineReached } from '../../../time/deadline.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { StepFailure } from '../../model/step-failure.ts';
import type { ViolaClient } from './viola-client.ts';
import { violaFailure } from './viola-problem.ts';

/** Business cluster, with a read of Viola's features there; undefined: Viola does not list the cluster. */
export interface GatedCluster {
  readonly providerId: string;
  readonly features: () => Promise<readonly string[] | undefined>;
}

/**
 * Returns a client with the gate of mode Observe before each write: an earlier Viola drops the mode and would change
 * nodes. Reads need no gate. In mode Apply, returns the client unchanged.
 */
export function behindGate(
  viola: ViolaClient,
  { observes = false }: Pick<ViolaEndpoint, 'observes'>,
  cluster: GatedCluster,
): ViolaClient {
  if (!observes) return viola;
  // One answer for all writes: a sync sends all nodes, or none.
  let answer: Promise<void> | undefined;
  const admit = async () => (answer ??= requireObserve(cluster));
  return {
    abilities: viola.abilities,
    admit,
    list: async (query, signal) => viola.list(query, signal),
    facts: async (signal) => viola.facts(signal),
    get: async (nodeName, signal) => viola.get(nodeName, signal),
    check: async (nodeName, request, signal) => viola.check(nodeName, request, signal),
    async post(nodes, signal) {
      await admit();
      return viola.post(nodes, signal);
    },
    async remove(nodeName, base, why, signal) {
      await admit();
      return viola.remove(nodeName, base, why, signal);
    },
    async dryRun(nodes, signal) {
      await admit();
      return viola.dryRun(nodes, signal);
    },
  };
}

/** Throws StepFailure unless Viola lists the feature for the business cluster. */
async function requireObserve({ providerId, features }: GatedCluster): Promise<void> {
  const listed = await features().catch(asViolaFailure);
  if (listed?.includes('observe' satisfies ViolaFeature)) return;
  const cluster = `business cluster "${providerId}"`;
  if (listed) {
    const message = `spec.settings.mode is Observe, and Viola does not list the feature observe for ${cluster}, so nothing is sent there; upgrade Viola, or set the mode to Apply`;
    throw new StepFailure({ reason: 'ObserveUnsupported', message });
  }
  const message = `ClusterNotRegistered: viola: ${cluster} is missing in the list of clusters, so its support of spec.settings.mode Observe is unknown, and nothing is sent there; check its registration Secret`;
  throw new StepFailure({ reason: 'ViolaPostError', message });
}

function asViolaFailure(error: unknown): never {
  if (isRequestError(error)) throw violaFailure(error);
  if (!(error instanceof DeadlineReached)) throw error;
  const message =
    'ViolaUnavailable: viola: the list of clusters has no answer in time, so its support of spec.settings.mode Observe is unknown, and nothing is sent';
  throw new StepFailure({ reason: 'ViolaPostError', message }, { cause: error });
}
