import {
  type ClusterNetwork,
  clusterNetworksName,
  publishedIn,
} from '../../api/cluster-networks.ts';
import { rfc3339 } from '../../api/condition.ts';
import { violaFeature } from '../../api/node-configs-http.ts';
import { configMaps } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { Cluster, Clusters } from './clusters.ts';
import { featuresOf } from './features.ts';
import type { ClusterRights, RightsInCluster } from './rights-in-cluster.ts';
import { uidOf } from './uid.ts';

export interface Reached {
  readonly providerId: string;
  readonly server: string;
  readonly reachable: boolean;
  readonly checkedAt: string;
  readonly message: string;
  readonly rights?: RightsInCluster;
  /** Undefined: not published, not readable, or no answer in time. */
  readonly networks?: ClusterNetwork[];
  /** Features for this cluster, also without an answer: a write reports the failure. */
  readonly supports: string[];
  /** uid of the Namespace kube-system; undefined: unknown. */
  readonly uid?: string;
}

export interface ReachOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** undefined: rights are not checked. */
  readonly rights?: Pick<ClusterRights, 'of' | 'check'> | undefined;
}

/**
 * Limit per step, ms: version first, then rights, networks and uid at once. A hanging cluster costs 10 s, half of the
 * operator's limit for all clusters.
 */
const answerWithinMs = 5_000;

/** Requests a registered cluster's version; returns its reachability and Viola's missing rights there. */
export async function reach(
  clusters: Clusters,
  providerId: string,
  { clock, signal, rights }: ReachOptions,
): Promise<Reached> {
  const checkedAt = rfc3339(clock.now());
  const supports = [...violaFeature.options];
  return clusters.use(providerId, async (found) => {
    if (found.kind !== 'found') {
      const message =
        found.kind === 'broken' ? found.message : 'the registration Secret no longer exists';
      return { providerId, server: '', reachable: false, checkedAt, message, supports };
    }
    const { client, server } = found.cluster;
    try {
      const limit = { clock, ms: answerWithinMs, signal };
      const { gitVersion } = await withDeadline(limit, (limited) =>
        client.version({ signal: limited }),
      );
      const message = `Kubernetes ${gitVersion}`;
      const once = { clock, signal, withinMs: answerWithinMs };
      const [known, networks, uid, features] = await Promise.all([
        knownRights(providerId, { clock, signal, rights }),
        networksIn(found.cluster, { clock, signal }),
        uidOf(found.cluster, once),
        featuresOf(found.cluster, once),
      ]);
      const reached = { providerId, server, reachable: true, checkedAt, message };
      return {
        ...reached,
        supports: features,
        ...(known && { rights: known }),
        ...(networks && { networks }),
        ...(uid && { uid }),
      };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      return { providerId, server, reachable: false, checkedAt, message, supports };
    }
  });
}

/** Returns the networks published by the controller; undefined: missing, unreadable, or no answer in time. */
async function networksIn(
  { client, namespace }: Cluster,
  { clock, signal }: Pick<ReachOptions, 'clock' | 'signal'>,
): Promise<ClusterNetwork[] | undefined> {
  const ref = { namespace, name: clusterNetworksName };
  const limit = { clock, ms: answerWithinMs, signal };
  try {
    const found = await withDeadline(limit, (limited) =>
      client.find(configMaps, ref, { signal: limited }),
    );
    return publishedIn(found?.data);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Returns known rights; checks a new cluster now if the check finishes in time. */
async function knownRights(providerId: string, { clock, signal, rights }: ReachOptions) {
  if (!rights || rights.of(providerId)) return rights?.of(providerId);
  const limit = { clock, ms: answerWithinMs, signal };
  await withDeadline(limit, (limited) => rights.check(providerId, limited)).catch(
    (error: unknown) => {
      if (!(error instanceof DeadlineReached)) throw error;
    },
  );
  return rights.of(providerId);
}
