import { rfc3339 } from '../api/condition.ts';
import type { metricTable } from '../api/metrics.ts';
import { claimsOf } from '../kube/rights.ts';
import { mapBounded } from '../process/bounded.ts';
import type { PartContext } from '../process/part.ts';
import { RightsState } from '../self-check/rights-state.ts';
import { jittered } from '../time/backoff.ts';
import { passed } from '../time/clock.ts';
import type { Cluster, Clusters } from './clusters.ts';
import { writerRights } from './rights.ts';

/** How often the rights in a cluster are looked at, and how often while some are missing. */
const usualMs = 600_000;
const hurriedMs = 30_000;
/** Clusters that are asked at once, each two questions at a time. */
const atOnce = 2;

/** What Viola may not do in a business cluster. */
export interface RightsInCluster {
  readonly missing: string[];
  readonly checkedAt: string;
}

interface Entry {
  /** A Secret that changes makes another cluster of it. */
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
 * The rights of the identities by which Viola writes in its business clusters. They are none of Viola's readiness: a cluster
 * in which something is missing must not take the others along.
 */
export class ClusterRights {
  readonly #options: ClusterRightsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #sampled = new Set<string>();

  constructor(options: ClusterRightsOptions) {
    this.#options = options;
  }

  /** Undefined while nothing is known of them. */
  of(providerId: string): RightsInCluster | undefined {
    const entry = this.#entries.get(providerId);
    const missing = entry?.rights.missing;
    return (
      entry && missing && { missing: missing.map(({ what }) => what), checkedAt: entry.checkedAt }
    );
  }

  /** Looks at every registered cluster, at new ones soon, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clusters, context } = this.#options;
    const { clock, log } = context;
    do {
      const registered = clusters.providerIds;
      for (const id of this.#entries.keys()) {
        if (!registered.includes(id)) this.#entries.delete(id);
      }
      await mapBounded(registered, atOnce, (id, stop) => this.look(id, stop), signal).catch(
        (error: unknown) => {
          if (!signal.aborted) log.error({ err: error }, 'the look at rights in clusters failed');
        },
      );
    } while (await passed(clock, hurriedMs, signal));
  }

  /** Looks at one cluster when it is time to. */
  async look(providerId: string, signal: AbortSignal): Promise<void> {
    const { clusters, context } = this.#options;
    await clusters.use(providerId, async (lookup) => {
      if (lookup.kind !== 'found') {
        this.#entries.delete(providerId);
        return;
      }
      const entry = this.#entryOf(lookup.cluster);
      if (context.clock.monotonicMs() >= entry.dueAtMs) await this.#ask(entry, signal);
    });
  }

  async #ask(entry: Entry, signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options.context;
    const { client, providerId } = entry.cluster;
    // Before the answer: somebody else may come meanwhile.
    entry.dueAtMs = clock.monotonicMs() + hurriedMs;
    const { lost, gained, silence } = await entry.rights.look({ client, clock, signal });
    const { missing } = entry.rights;
    if (missing && !silence) {
      entry.checkedAt = rfc3339(clock.now());
      const pauseMs = missing.length > 0 ? hurriedMs : usualMs;
      entry.dueAtMs = clock.monotonicMs() + jittered(pauseMs, random);
    }
    for (const right of lost) {
      log.error({ reason: 'RightsMissing', providerId, ...right }, `may not ${right.what}`);
    }
    for (const { what, role } of gained) {
      log.info({ providerId, what, role }, 'a missing right was granted');
    }
  }

  #entryOf(cluster: Cluster): Entry {
    const { providerId, namespace } = cluster;
    const known = this.#entries.get(providerId);
    if (known?.cluster === cluster) return known;
    // What is needed rarely, and not by every registration, is told where it fails.
    const usual = writerRights.rights.filter(({ rare }) => !rare);
    const claims = claimsOf(usual, { objects: [namespace] });
    const rights = new RightsState(writerRights, claims);
    const entry = { cluster, rights, dueAtMs: 0, checkedAt: '' };
    this.#entries.set(providerId, entry);
    this.#sample(providerId);
    return entry;
  }

  /** A cluster that is not registered any more has no figure. */
  #sample(providerId: string): void {
    if (this.#sampled.has(providerId)) return;
    this.#sampled.add(providerId);
    const labels = { provider: providerId };
    const value = () => this.of(providerId)?.missing.length;
    this.#options.context.metrics.sample('multinic_cluster_rights_missing', labels, value);
  }
}
