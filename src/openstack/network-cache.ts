import { isRequestError } from '../requests/request-error.ts';
import type { Clock } from '../time/clock.ts';
import { GatheredReads } from './gathered-reads.ts';
import type { Keystone } from './keystone-session.ts';
import type { Neutron } from './neutron.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import type { Query } from './requests/service-client.ts';
import type { Found, Network, Subnet } from './resources.ts';
import { TtlCache } from './ttl-cache.ts';

/** Networks and subnets of one cloud, cached for 5 minutes. */
interface NetworkCache {
  subnet(id: string, signal: AbortSignal): Promise<Found<Subnet>>;
  /** Returns the project's subnets with this exact name, else subnets whose name differs only in case. */
  subnetsByName(name: string, signal: AbortSignal): Promise<readonly Subnet[]>;
  network(id: string, signal: AbortSignal): Promise<Found<Network>>;
  /** True if the cache contains any given network or subnet id. */
  knows(ids: readonly string[]): boolean;
  /** Drops entries older than `since` (monotonic milliseconds). */
  forgetBefore(since: number): void;
}

type NetworkCacheName = 'networks' | 'subnet_names' | 'subnets';

interface NetworkCacheOptions {
  readonly neutron: Neutron;
  readonly keystone: Keystone;
  readonly clock: Clock;
  readonly turns: RefreshTurns;
  /** Aborts shared requests when the process stops. */
  readonly lifetime: AbortSignal;
  readonly onLookup?: ((cache: NetworkCacheName, isHit: boolean) => void) | undefined;
}

const networkTtlMs = 5 * 60_000;
const networkCapacity = 10_000;

/** Creates an empty cache. */
export function createNetworkCache(options: NetworkCacheOptions): NetworkCache {
  const { neutron, keystone, clock, turns, lifetime, onLookup } = options;
  const cache = {
    clock,
    ttlMs: networkTtlMs,
    capacity: networkCapacity,
    turnsOf: () => turns,
  };
  const counted = (name: NetworkCacheName) => ({
    onLookup: (isHit: boolean) => onLookup?.(name, isHit),
  });
  const subnets = new TtlCache<Found<Subnet>>({ ...cache, ...counted('subnets'), keeps: isFound });
  const networks = new TtlCache<Found<Network>>({
    ...cache,
    ...counted('networks'),
    keeps: isFound,
  });
  const subnetReads = new GatheredReads<Subnet>({
    one: async (id) => neutron.subnet(id, lifetime),
    several: async (ids) => unlessUnusable(neutron.subnets(idsOf(ids), lifetime)),
  });
  const networkReads = new GatheredReads<Network>({
    one: async (id) => neutron.network(id, lifetime),
    several: async (ids) => unlessUnusable(neutron.networks(idsOf(ids), lifetime)),
  });
  const named = new TtlCache<readonly Subnet[]>({
    ...cache,
    ...counted('subnet_names'),
    keeps: (list) => list.length > 0,
  });

  return {
    async subnet(id, signal) {
      return subnets.get(id, signal, async () => subnetReads.read(id));
    },
    async subnetsByName(name, signal) {
      // An administrator's list would span all projects, and names are not unique.
      const found = await named.get(name, signal, async () => {
        const { projectId } = await keystone.session(lifetime);
        const filter = [
          ['name', name],
          ['project_id', projectId],
        ] as const;
        return neutron.subnets(filter, lifetime);
      });
      const exact = found.filter((subnet) => subnet.name === name);
      return exact.length > 0 ? exact : found;
    },
    async network(id, signal) {
      return networks.get(id, signal, async () => networkReads.read(id));
    },
    knows: (ids) =>
      ids.some((id) => networks.has(id) || subnets.has(id)) ||
      named.some((list) => list.some(({ id }) => ids.includes(id))),
    forgetBefore(since) {
      for (const each of [subnets, networks, named]) each.forgetBefore(since);
    },
  };
}

function idsOf(ids: readonly string[]): Query {
  return ids.map((id) => ['id', id] as const);
}

/**
 * Returns the list, or an empty list when an item is unreadable or the URL is too long; each item is then read alone.
 */
async function unlessUnusable<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list;
  } catch (error) {
    if (isRequestError(error, 'badAnswer', 'tooLarge')) return [];
    throw error;
  }
}

function isFound<T>(found: Found<T>): boolean {
  return found.kind === 'found';
}
