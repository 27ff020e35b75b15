import type { Logger } from '../process/log.ts';
import { createCaller, type RequestSample } from '../requests/caller.ts';
import { isRequestError } from '../requests/request-error.ts';
import type { Transport } from '../requests/transport.ts';
import type { Clock, Random } from '../time/clock.ts';
import { createEndpoint, createRegion } from './catalog.ts';
import type { CatalogLimits, CloudIdentity } from './cloud-identity.ts';
import type { CredentialGate } from './credential-gate.ts';
import { createDeletions } from './deletions.ts';
import { neutronBase, novaBase } from './endpoint.ts';
import { GatheredReads } from './gathered-reads.ts';
import { createKeystone } from './keystone.ts';
import { createNeutron } from './neutron.ts';
import { createNova, novaHeaders } from './nova.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { answerFailure } from './requests/answer-failure.ts';
import { createServiceClient, type Query } from './requests/service-client.ts';
import type { Found, Network, Port, Server, ServerRecord, Subnet } from './resources.ts';
import { createServerDirectory } from './server-directory.ts';
import { ServerLists } from './server-lists.ts';
import { TtlCache } from './ttl-cache.ts';

/** One project of one OpenStack, read only. Ids are lower case. Every method throws RequestError. */
export interface Cloud {
  /** Which OpenStack it is, whoever asks it: the same for every account and project. */
  readonly name: string;
  /** The project that the account is scoped to; undefined before its first login. */
  readonly projectId: string | undefined;
  /** All ports attached to these servers, complete or an error; asks for at most 100 servers at a time. */
  portsOf(serverIds: readonly string[], signal: AbortSignal): Promise<readonly Port[]>;
  /** A port by id, never cached: evidence for removals. */
  port(id: string, signal: AbortSignal): Promise<Found<Port>>;
  /** The ports with a MAC, never cached: evidence about entries that name no port. */
  portsWithMac(macAddress: string, signal: AbortSignal): Promise<readonly Port[]>;
  /** Cached for minutes. */
  subnet(id: string, signal: AbortSignal): Promise<Found<Subnet>>;
  /** The project's subnets of exactly this name; without any, those whose name differs in case only. Cached for minutes. */
  subnetsByName(name: string, signal: AbortSignal): Promise<readonly Subnet[]>;
  /** Cached for minutes. */
  network(id: string, signal: AbortSignal): Promise<Found<Network>>;
  /** Names and metadata, cached for minutes; an id that Nova does not show is absent, which proves nothing. */
  servers(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /**
   * The servers of the project that carry all these tags, complete or an error, listed no earlier than `since` (monotonic
   * ms; Infinity = for this call). Without tags: all of them.
   */
  projectServers(
    tags: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Server>>;
  /** The tags of a server, never cached: evidence for removals. */
  serverTags(id: string, signal: AbortSignal): Promise<Found<readonly string[]>>;
  /** A server by id with Nova's record of its NICs, never cached: evidence for removals. */
  server(id: string, signal: AbortSignal): Promise<Found<ServerRecord>>;
  /** Whether Nova lists the server as deleted in the last days; a yes is remembered, it does not come back. */
  wasDeleted(serverId: string, signal: AbortSignal): Promise<boolean>;
  /** Whether any of these networks or subnets is remembered. */
  knowsNetwork(ids: readonly string[]): boolean;
  /** Whether it is asked as any of these users, projects, domains or application credentials; before its first login it may be. */
  isOf(accounts: readonly string[]): boolean;
  /** Forgets what was remembered before `since` (monotonic ms). */
  freshen(since: number): void;
  /** HTTP requests sent so far, logins and repeats included. */
  readonly calls: number;
}

/** What is remembered of clouds. */
export type CacheName =
  | 'networks'
  | 'providers'
  | 'servers'
  | 'subnet_names'
  | 'subnets'
  | 'tokens';

/** Told of each question to a cache whether the answer was remembered. */
export type OnLookup = (cache: CacheName, isHit: boolean) => void;

export interface CloudOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends shared work when the process stops. */
  readonly lifetime: AbortSignal;
  readonly onRequest?: ((sample: RequestSample) => void) | undefined;
  readonly onLookup?: OnLookup | undefined;
  readonly gate: CredentialGate;
  readonly turns: RefreshTurns;
  readonly onRefused?: () => void;
  /** Why the catalog may not name this URL; undefined = it may. */
  readonly denied: (url: string, limits: CatalogLimits) => string | undefined;
  /** See Breaker: how rarely a service that stays down is asked, and who is told that it answers again. */
  readonly longestWindowMs: number;
  readonly onRecovered?: (() => void) | undefined;
  /** Called when a service has moved to another endpoint: nothing that is known here holds there. */
  readonly onMoved: () => void;
}

const networkTtlMs = 5 * 60_000;
const networkCapacity = 10_000;

/** Makes the Cloud of one identity. */
export function createCloud(identity: CloudIdentity, options: CloudOptions): Cloud {
  const { clock, lifetime, turns } = options;
  const { tls, timeoutMs } = identity;
  const caller = createCaller({ ...options, failureOf: answerFailure, tls, timeoutMs });
  const onToken = (isHit: boolean) => options.onLookup?.('tokens', isHit);
  const keystone = createKeystone({ ...options, identity, caller, onLookup: onToken });
  const fromCatalog = [
    ...(identity.neutronUrl === undefined ? (['network'] as const) : []),
    ...(identity.novaUrl === undefined ? (['compute'] as const) : []),
  ];
  const regionOf = createRegion(fromCatalog, identity.interface);
  const endpointOf = (service: 'neutron' | 'nova') => {
    const type = service === 'neutron' ? 'network' : 'compute';
    const { interface: interfaceName, region } = identity;
    const denied = (url: string) => options.denied(url, identity);
    return createEndpoint(
      { service, type, interface: interfaceName, region },
      { denied, onMoved: options.onMoved, regionOf },
    );
  };
  const network = endpointOf('neutron');
  const compute = endpointOf('nova');
  const neutron = createNeutron(
    createServiceClient({
      service: 'neutron',
      keystone,
      caller,
      clock,
      base: (catalog) => neutronBase(identity.neutronUrl ?? network(catalog)),
    }),
  );
  const nova = createNova(
    createServiceClient({
      service: 'nova',
      keystone,
      caller,
      clock,
      base: (catalog) => novaBase(identity.novaUrl ?? compute(catalog)),
      headers: novaHeaders,
    }),
    { timeoutMs: identity.timeoutMs },
  );
  const onServers = (isHit: boolean) => options.onLookup?.('servers', isHit);
  const directory = createServerDirectory({ nova, clock, turns, lifetime, onLookup: onServers });
  const onListed = (servers: ReadonlyMap<string, Server>) => directory.learn(servers);
  const lists = new ServerLists({ nova, clock, lifetime, onListed });
  const deletions = createDeletions({ nova, clock, lifetime });
  const cache = {
    clock,
    ttlMs: networkTtlMs,
    capacity: networkCapacity,
    turnsOf: () => turns,
  };
  const counted = (name: CacheName) => ({
    onLookup: (isHit: boolean) => options.onLookup?.(name, isHit),
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
    name: nameOf(identity),
    get projectId() {
      return keystone.projectId;
    },
    portsOf: async (serverIds, signal) => neutron.portsOf(serverIds, signal),
    port: async (id, signal) => neutron.port(id, signal),
    portsWithMac: async (macAddress, signal) => neutron.portsWithMac(macAddress, signal),
    server: async (id, signal) => nova.server(id, signal),
    servers: async (ids, signal) => directory.servers(ids, signal),
    projectServers: async (tags, since, signal) => lists.get(tags, since, signal),
    serverTags: async (id, signal) => nova.tags(id, signal),
    wasDeleted: async (serverId, signal) => deletions.has(serverId, signal),
    async subnet(id, signal) {
      return subnets.get(id, signal, async () => subnetReads.read(id));
    },
    async subnetsByName(name, signal) {
      // As administrator the list would span all projects, and names are not unique.
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
    isOf: (accounts) => accounts.some((id) => keystone.accounts?.includes(id) ?? true),
    knowsNetwork: (ids) =>
      ids.some((id) => networks.has(id) || subnets.has(id)) ||
      named.some((list) => list.some(({ id }) => ids.includes(id))),
    freshen(since) {
      for (const each of [subnets, networks, named, directory]) each.forgetBefore(since);
    },
    get calls() {
      return caller.calls;
    },
  };
}

function idsOf(ids: readonly string[]): Query {
  return ids.map((id) => ['id', id] as const);
}

/** The items of a list; none when one of them cannot be read or the URL is too long: each is read by itself then. */
async function unlessUnusable<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list;
  } catch (error) {
    if (isRequestError(error, 'badAnswer', 'tooLarge')) return [];
    throw error;
  }
}

function nameOf({ keystoneUrl, region = '' }: CloudIdentity): string {
  return `${keystoneUrl.trim().replace(/\/*(v3\/*)?$/, '')} ${region}`.toLowerCase();
}

function isFound<T>(found: Found<T>): boolean {
  return found.kind === 'found';
}
