import { rfc3339 } from '../../api/condition.ts';
import type { metricTable } from '../../api/metrics.ts';
import { claimsOf } from '../../kube/rights.ts';
import { mapBounded } from '../../process/bounded.ts';
import type { PartContext } from '../../process/part.ts';
import { RightsState } from '../../self-check/rights-state.ts';
import { jittered } from '../../time/backoff.ts';
import { passed } from '../../time/clock.ts';
import { writerPlacesOf, writerRights } from '../rights.ts';
import type { Cluster, Clusters } from './clusters.ts';

/** Check interval (ms): 10 min, or 30 s while a right is missing or unknown. */
const checkMs = 600_000;
const recheckMs = 30_000;
/** Clusters checked at once, with two SelfSubjectAccessReviews at once for each. */
const concurrentClusters = 2;

/** Viola's missing rights in a business cluster. */
export interface RightsInCluster {
  readonly missing: string[];
  readonly checkedAt: string;
}

interface Entry {
  /** Cluster of the current registration Secret; an edited Secret is a new Cluster. */
  readonly cluster: Cluster;
  readonly rights: RightsState;
  dueAtMs: number;
  checkedAt: string;
}

export interface ClusterRightsOptions {
  readonly clusters: Clusters;
  readonly context: Pick<PartContext<typeof metricTable>, 'clock' | 'random' | 'log' | 'metrics'>;
}

/**
 * Checks the rights of Viola's ServiceAccounts in business clusters. A missing right leaves Viola ready for the remaining
 * business clusters.
 */
export class ClusterRights {
  readonly #options: ClusterRightsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #sampled = new Set<string>();

  constructor(options: ClusterRightsOptions) {
    this.#options = options;
  }

  /** Returns a cluster's rights; undefined: not checked yet. */
  of(providerId: string): RightsInCluster | undefined {
    const entry = this.#entries.get(providerId);
    const missing = entry?.rights.missing;
    return (
      entry && missing && { missing: missing.map(({ what }) => what), checkedAt: entry.checkedAt }
    );
  }

  /** Checks all registered clusters until the signal aborts; new clusters within 30 s. */
  async run(signal: AbortSignal): Promise<void> {
    const { clusters, context } = this.#options;
    const { clock, log } = context;
    do {
      const registered = clusters.providerIds;
      for (const id of this.#entries.keys()) {
        if (!registered.includes(id)) this.#entries.delete(id);
      }
      await mapBounded(
        registered,
        concurrentClusters,
        (id, stop) => this.check(id, stop),
        signal,
      ).catch((error: unknown) => {
        if (!signal.aborted)
          log.error({ err: error }, 'check of rights in business clusters failed');
      });
    } while (await passed(clock, recheckMs, signal));
  }

  /** Checks one cluster when due. */
  async check(providerId: string, signal: AbortSignal): Promise<void> {
    const { clusters, context } = this.#options;
    await clusters.use(providerId, async (lookup) => {
      if (lookup.kind !== 'found') {
        this.#entries.delete(providerId);
        return;
      }
      const entry = this.#entryOf(lookup.cluster);
      if (context.clock.monotonicMs() >= entry.dueAtMs) await this.#review(entry, signal);
    });
  }

  async #review(entry: Entry, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options.context;
    const { client, providerId } = entry.cluster;
    // Set before the review ends: run() and a request may check the same cluster at once.
    entry.dueAtMs = clock.monotonicMs() + recheckMs;
    const { lost, gained, silence } = await entry.rights.look({ client, clock, signal });
    const { missing } = entry.rights;
    if (missing && !silence) {
      entry.checkedAt = rfc3339(clock.now());
      const pauseMs = missing.length > 0 ? recheckMs : checkMs;
      entry.dueAtMs = clock.monotonicMs() + jittered(pauseMs, random);
    }
    for (const right of lost) {
      log.error({ reason: 'RightsMissing', providerId, ...right }, `may not ${right.what}`);
    }
    for (const { what, role } of gained) {
      log.info({ providerId, what, role }, 'missing right granted');
    }
  }

  #entryOf(cluster: Cluster): Entry {
    const { providerId, namespace } = cluster;
    const known = this.#entries.get(providerId);
    if (known?.cluster === cluster) return known;
    // A registration without renewal or migration needs no rare right: a failing request reports the right.
    const usual = writerRights.rights.filter(({ rare }) => !rare);
    const claims = claimsOf(usual, writerPlacesOf(namespace));
    const rights = new RightsState(writerRights, claims);
    const entry = { cluster, rights, dueAtMs: 0, checkedAt: '' };
    this.#entries.set(providerId, entry);
    this.#sample(providerId);
    return entry;
  }

  /** Registers the metric of a cluster. Without registration Secret the metric has no sample. */
  #sample(providerId: string): void {
    if (this.#sampled.has(providerId)) return;
    this.#sampled.add(providerId);
    const labels = { provider: providerId };
    const value = () => this.of(providerId)?.missing.length;
    this.#options.context.metrics.sample('multinic_cluster_rights_missing', labels, value);
  }
}
