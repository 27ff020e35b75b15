import { type ClusterNetwork, clusterNetwork } from '../../api/cluster-networks.ts';
import { SharedValues } from '../../openstack/shared-values.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { ViolaEndpoint } from '../resolve/endpoints.ts';
import { clustersWithinMs, type ReportedCluster } from './viola-clusters.ts';

/** Viola checks every business cluster for an answer, and networks rarely change. */
const lifetimeMs = 300_000;
/** Pause after a failed read. */
const retryMs = 60_000;
/** Milliseconds after which the networks of an unused Viola are dropped. */
const idleMs = 2 * 3_600_000;

type Read = (endpoint: ViolaEndpoint, signal: AbortSignal) => Promise<readonly ReportedCluster[]>;

/** Networks of one Viola's business clusters. */
interface Reading {
  /** Undefined: not read yet. */
  networks: ReadonlyMap<string, readonly ClusterNetwork[]> | undefined;
  /** Milliseconds on the monotonic clock. */
  until: number;
  /** Read under way; several OpenstackConfigs share it. */
  running: Promise<void> | undefined;
}

/** Networks of business clusters by Viola; a failed read leaves the last networks in place. */
export class ClusterNetworks {
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
   * Returns a business cluster's networks; undefined: unknown. Waits for Viola's first reading only: later readings run
   * in the background.
   */
  async of(
    endpoint: ViolaEndpoint,
    providerId: string,
  ): Promise<readonly ClusterNetwork[] | undefined> {
    if (endpoint.compatibility === 'legacy') return undefined;
    const reading = this.#readings.get(endpoint.url, () => ({
      networks: undefined,
      until: 0,
      running: undefined,
    }));
    const isDue = reading.networks === undefined || reading.until <= this.#clock.monotonicMs();
    if (isDue) reading.running ??= this.#refresh(reading, endpoint);
    if (reading.networks === undefined) await reading.running;
    return reading.networks?.get(providerId);
  }

  /** Never rejects. */
  async #refresh(reading: Reading, endpoint: ViolaEndpoint): Promise<void> {
    const before = reading.networks ?? new Map<string, readonly ClusterNetwork[]>();
    let lastsMs = lifetimeMs;
    try {
      const limit = { clock: this.#clock, ms: clustersWithinMs };
      const items = await withDeadline(limit, (ends) => this.#read(endpoint, ends));
      reading.networks = new Map(
        items.flatMap((item) => {
          const list = usable(item) ?? before.get(item.providerId);
          return list ? [[item.providerId, list]] : [];
        }),
      );
    } catch {
      // The sync itself reports an unreachable Viola.
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
