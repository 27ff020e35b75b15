import { type ClusterNetwork, clusterNetwork } from '../../../api/cluster-networks.ts';
import type { ViolaFeature } from '../../../api/node-configs-http.ts';
import { SharedValues } from '../../../openstack/shared-values.ts';
import type { Clock } from '../../../time/clock.ts';
import { withDeadline } from '../../../time/deadline.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { ClusterIdentities } from './cluster-identities.ts';
import { clustersWithinMs, type ReportedCluster } from './viola-clusters.ts';

/** What a Viola says about itself and its business clusters. */
interface ReportedViola {
  readonly clusters: readonly ReportedCluster[];
  /** True: the source of a node keeps cluster and cloud. */
  readonly storesIdentity: boolean;
}

/** Facts for a sync. */
export interface ViolaFact {
  /** Networks of the business cluster; undefined: unknown. */
  readonly clusterNetworks?: readonly ClusterNetwork[] | undefined;
  readonly storesIdentity: boolean;
  /** Whether Viola delivers consent to adoption there; undefined: unknown. */
  readonly supportsAdoption?: boolean;
  /** Further ids of the same business cluster, sorted. */
  readonly sameClusterIds: readonly string[];
}

/** Viola checks every business cluster for an answer, and networks rarely change. */
const lifetimeMs = 300_000;
/** Pause after a failed read. */
const retryMs = 60_000;
/** Milliseconds after which the networks of an unused Viola are dropped. */
const idleMs = 2 * 3_600_000;

type Read = (endpoint: ViolaEndpoint, signal: AbortSignal) => Promise<ReportedViola>;

/** Last answer of one Viola. */
interface Reading {
  /** Undefined: not read yet. */
  networks: ReadonlyMap<string, readonly ClusterNetwork[]> | undefined;
  readonly identities: ClusterIdentities;
  storesIdentity: boolean;
  /** Features by business cluster, as last read. */
  features: ReadonlyMap<string, readonly string[]>;
  /** The last read's failure; undefined: success. */
  failure: unknown;
  /** Milliseconds on the monotonic clock. */
  until: number;
  /** Read under way; several OpenstackConfigs share it. */
  running: Promise<void> | undefined;
}

/** Answers by Viola; a failed read leaves the last answer in place. */
export class ViolaFacts {
  readonly #read: Read;
  readonly #clock: Clock;
  /** By URL. */
  readonly #readings: SharedValues<Reading>;

  constructor(read: Read, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
    this.#readings = new SharedValues({ clock, idleMs });
  }

  /**
   * Returns the facts about a business cluster. Waits for Viola's first reading only: later readings run in the
   * background.
   */
  async of(endpoint: ViolaEndpoint, providerId: string): Promise<ViolaFact> {
    if (endpoint.compatibility === 'legacy') return { storesIdentity: false, sameClusterIds: [] };
    const reading = this.#begun(endpoint);
    if (reading.networks === undefined) await reading.running;
    const { networks, storesIdentity, identities } = reading;
    const sameClusterIds = identities.sameAs(providerId);
    const clusterNetworks = networks?.get(providerId);
    const adoption = endpoint.adopts ? this.#adoptionIn(reading, providerId) : {};
    return { clusterNetworks, storesIdentity, sameClusterIds, ...adoption };
  }

  #adoptionIn(reading: Reading, providerId: string): Pick<ViolaFact, 'supportsAdoption'> {
    const supportsAdoption = reading.features
      .get(providerId)
      ?.includes('adopt' satisfies ViolaFeature);
    if (supportsAdoption === undefined) return {};
    if (!supportsAdoption) this.#readSoon(reading);
    return { supportsAdoption };
  }

  /** An upgrade or a registration must not wait for the end of the reading. */
  #readSoon(reading: Reading): void {
    reading.until = Math.min(reading.until, this.#clock.monotonicMs() + retryMs);
  }

  /**
   * Returns Viola's features for a business cluster; undefined: Viola does not list the cluster. Waits for a new reading
   * after the last reading's lifetime. Throws the last read's failure.
   */
  async featuresOf(
    endpoint: ViolaEndpoint,
    providerId: string,
  ): Promise<readonly string[] | undefined> {
    const reading = this.#begun(endpoint);
    await reading.running;
    if (reading.failure !== undefined) throw reading.failure;
    const features = reading.features.get(providerId);
    if (!features?.length) this.#readSoon(reading);
    return features;
  }

  /** Returns the reading, and begins a new read after its lifetime. */
  #begun(endpoint: ViolaEndpoint): Reading {
    const reading = this.#readingOf(endpoint);
    const isDue = reading.networks === undefined || reading.until <= this.#clock.monotonicMs();
    if (isDue) reading.running ??= this.#refresh(reading, endpoint);
    return reading;
  }

  /** Notes ids whose lists share objects with this id: they are ids of the same business cluster. */
  noteSameCluster(endpoint: ViolaEndpoint, providerId: string, ids: readonly string[]): void {
    if (ids.length > 0) this.#readingOf(endpoint).identities.noteSame(providerId, ids);
  }

  #readingOf({ url }: ViolaEndpoint): Reading {
    return this.#readings.get(url, () => ({
      networks: undefined,
      identities: new ClusterIdentities(),
      storesIdentity: false,
      features: new Map(),
      failure: undefined,
      until: 0,
      running: undefined,
    }));
  }

  /** Never rejects. */
  async #refresh(reading: Reading, endpoint: ViolaEndpoint): Promise<void> {
    const before = reading.networks ?? new Map<string, readonly ClusterNetwork[]>();
    let lastsMs = lifetimeMs;
    try {
      const limit = { clock: this.#clock, ms: clustersWithinMs };
      const { clusters, storesIdentity } = await withDeadline(limit, (ends) =>
        this.#read(endpoint, ends),
      );
      reading.storesIdentity = storesIdentity;
      reading.failure = undefined;
      reading.features = new Map(clusters.map((one) => [one.providerId, one.supports ?? []]));
      reading.identities.use(clusters);
      reading.networks = new Map(
        clusters.flatMap((item) => {
          const list = usable(item) ?? before.get(item.providerId);
          return list ? [[item.providerId, list]] : [];
        }),
      );
    } catch (error) {
      // The sync itself reports an unreachable Viola.
      reading.failure = error;
      reading.networks = before;
      lastsMs = retryMs;
    }
    reading.until = this.#clock.monotonicMs() + lastsMs;
    reading.running = undefined;
  }
}

/** Returns the networks with a readable CIDR; undefined: Viola reports none. */
function usable({ networks }: ReportedCluster): readonly ClusterNetwork[] | undefined {
  return networks?.flatMap((each) => clusterNetwork.safeParse(each).data ?? []);
}
