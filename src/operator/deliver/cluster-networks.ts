import { type ClusterNetwork, clusterNetwork } from '../../api/cluster-networks.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { ViolaEndpoint } from '../resolve/endpoints.ts';
import type { ReportedCluster } from './viola-clusters.ts';

/** Viola checks every business cluster for an answer, and networks rarely change. */
const lifetimeMs = 300_000;
/** Pause after a failed read. */
const retryMs = 60_000;
const answerWithinMs = 5_000;

type Read = (endpoint: ViolaEndpoint, signal: AbortSignal) => Promise<readonly ReportedCluster[]>;

interface Reading {
  readonly networks: ReadonlyMap<string, readonly ClusterNetwork[]>;
  /** Milliseconds on the monotonic clock. */
  readonly until: number;
}

/** Networks of business clusters by Viola; a failed read leaves the last networks in place. */
export class ClusterNetworks {
  readonly #read: Read;
  readonly #clock: Clock;
  readonly #readings = new Map<string, Reading>();
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(read: Read, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Returns a business cluster's networks; undefined: unknown. */
  async of(
    endpoint: ViolaEndpoint,
    providerId: string,
  ): Promise<readonly ClusterNetwork[] | undefined> {
    const { url, compatibility } = endpoint;
    if (compatibility === 'legacy') return undefined;
    const known = this.#readings.get(url);
    if (!known || known.until <= this.#clock.monotonicMs()) await this.#refresh(endpoint);
    return this.#readings.get(url)?.networks.get(providerId);
  }

  /** Several OpenstackConfigs share a read. */
  async #refresh(endpoint: ViolaEndpoint): Promise<void> {
    const { url } = endpoint;
    const running = this.#underWay.get(url) ?? this.#readAll(endpoint);
    this.#underWay.set(url, running);
    try {
      await running;
    } finally {
      this.#underWay.delete(url);
    }
  }

  async #readAll(endpoint: ViolaEndpoint): Promise<void> {
    const { url } = endpoint;
    const before = this.#readings.get(url)?.networks ?? new Map();
    try {
      const limit = { clock: this.#clock, ms: answerWithinMs };
      const items = await withDeadline(limit, (ends) => this.#read(endpoint, ends));
      const networks = new Map(
        items.map((item) => [item.providerId, usable(item) ?? before.get(item.providerId)]),
      );
      this.#note(url, networks, lifetimeMs);
    } catch {
      // The sync itself reports an unreachable Viola.
      this.#note(url, before, retryMs);
    }
  }

  #note(
    url: string,
    networks: ReadonlyMap<string, readonly ClusterNetwork[] | undefined>,
    lastsMs: number,
  ): void {
    const known = [...networks].flatMap(([id, list]) => (list ? [[id, list] as const] : []));
    this.#readings.set(url, {
      networks: new Map(known),
      until: this.#clock.monotonicMs() + lastsMs,
    });
  }
}

/** Returns the networks with a readable CIDR; undefined: Viola reports none. */
function usable({ networks }: ReportedCluster): readonly ClusterNetwork[] | undefined {
  return networks?.flatMap((each) => clusterNetwork.safeParse(each).data ?? []);
}
