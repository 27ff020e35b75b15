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
import type {
  Found,
  Network,
  Port,
  PortFilter,
  PortRecord,
  Server,
  ServerRecord,
  Subnet,
} from './resources.ts';
import { createServerDirectory } from './server-directory.ts';
import { ServerLists } from './server-lists.ts';
import { TtlCache } from './ttl-cache.ts';

/** Read-only view into one project in one OpenStack. Ids are lower case. Every method throws RequestError. */
export interface Cloud {
  /** OpenStack name, the same for all accounts and projects. */
  readonly name: string;
  /** Keystone's `host:port`, in lower case. */
  readonly host: string;
  /** Project scope in the account's token; undefined before the first login. */
  readonly projectId: string | undefined;
  /** Returns all ports attached to these servers, or throws; requests at most 100 servers per call. */
  portsOf(serverIds: readonly string[], signal: AbortSignal): Promise<readonly Port[]>;
  /** Reads a port by id, uncached: evidence for removals. */
  port(id: string, signal: AbortSignal): Promise<Found<Port>>;
  /** Reads all ports with this MAC, uncached: evidence for entries without a port id. */
  portsWithMac(macAddress: string, signal: AbortSignal): Promise<readonly Port[]>;
  /** Reads a port by id with `admin_state_up`, uncached: for users. */
  portRecord(id: string, signal: AbortSignal): Promise<Found<PortRecord>>;
  /** Reads matching ports in the account's project, uncached: for users. */
  projectPorts(filter: PortFilter, signal: AbortSignal): Promise<readonly Port[]>;
  /** Cached for 5 minutes. */
  subnet(id: string, signal: AbortSignal): Promise<Found<Subnet>>;
  /**
   * Returns the project's subnets with this exact name, else subnets whose name differs only in case. Cached for 5
   * minutes.
   */
  subnetsByName(name: string, signal: AbortSignal): Promise<readonly Subnet[]>;
  /** Cached for 5 minutes. */
  network(id: string, signal: AbortSignal): Promise<Found<Network>>;
  /**
   * Returns names and metadata, cached for minutes. A missing id proves nothing: Nova may hide servers from this
   * account.
   */
  servers(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /**
   * Returns the project's servers that carry all `tags` (empty: all servers), or throws. The list is no older than
   * `since` (monotonic milliseconds; Infinity: list now).
   */
  projectServers(
    tags: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Server>>;
  /** Reads a server's tags, uncached: evidence for removals. */
  serverTags(id: string, signal: AbortSignal): Promise<Found<readonly string[]>>;
  /** Reads a server with Nova's NIC list by id, uncached: evidence for removals. */
  server(id: string, signal: AbortSignal): Promise<Found<ServerRecord>>;
  /**
   * True if Nova listed the server as deleted within the last 7 days. A positive answer is cached forever: deleted
   * servers never return.
   */
  wasDeleted(serverId: string, signal: AbortSignal): Promise<boolean>;
  /** Returns the project's soft-deleted servers by id, at most 5 minutes old. */
  softDeleted(signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /** True if the cache contains any given network or subnet id. */
  knowsNetwork(ids: readonly string[]): boolean;
  /**
   * True if the account matches any given user, project, domain or application credential id; always true before the
   * first login.
   */
  isOf(accounts: readonly string[]): boolean;
  /** Drops cache entries older than `since` (monotonic milliseconds). */
  freshen(since: number): void;
  /** HTTP requests sent so far, including logins and retries. */
  readonly calls: number;
}

/** Cache names, used as metric labels. */
export type CacheName =
  | 'networks'
  | 'providers'
  | 'servers'
  | 'subnet_names'
  | 'subnets'
  | 'tokens';

/** Called on each cache lookup. */
export type OnLookup = (cache: CacheName, isHit: boolean) => void;

export interface CloudOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborts shared requests when the process stops. */
  readonly lifetime: AbortSignal;
  readonly onRequest?: ((sample: RequestSample) => void) | undefined;
  readonly onLookup?: OnLookup | undefined;
  readonly gate: CredentialGate;
  readonly turns: RefreshTurns;
  readonly onRefused?: () => void;
  /** Returns why the policy denies a URL from the catalog; undefined: allowed. */
  readonly denied: (url: string, limits: CatalogLimits) => string | undefined;
  /** Breaker settings: longest interval between probes to a service that is down, and the recovery callback. */
  readonly longestWindowMs: number;
  readonly onRecovered?: (() => void) | undefined;
  /** Called when a service moved to another endpoint; data cached from the old endpoint is invalid there. */
  readonly onMoved: () => void;
}

const networkTtlMs = 5 * 60_000;
const networkCapacity = 10_000;

/** Creates the Cloud for one identity. */
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
    host: hostOf(identity),
    get projectId() {
      return keystone.projectId;
    },
    portsOf: async (serverIds, signal) => neutron.portsOf(serverIds, signal),
    port: async (id, signal) => neutron.port(id, signal),
    portsWithMac: async (macAddress, signal) => neutron.portsWithMac(macAddress, signal),
    portRecord: async (id, signal) => neutron.portRecord(id, signal),
    async projectPorts(filter, signal) {
      // An administrator's list would span all projects.
      const { projectId } = await keystone.session(lifetime);
      const found = await neutron.ports([portQuery(filter), ['project_id', projectId]], signal);
      return found.filter((port) => port.projectId === projectId);
    },
    server: async (id, signal) => nova.server(id, signal),
    servers: async (ids, signal) => directory.servers(ids, signal),
    projectServers: async (tags, since, signal) => lists.get(tags, since, signal),
    serverTags: async (id, signal) => nova.tags(id, signal),
    wasDeleted: async (serverId, signal) => deletions.has(serverId, signal),
    softDeleted: async (signal) => deletions.soft(signal),
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

function portQuery(filter: PortFilter): Query[number] {
  if ('macAddress' in filter) return ['mac_address', filter.macAddress];
  if ('serverId' in filter) return ['device_id', filter.serverId];
  return ['fixed_ips', `ip_address=${filter.ipAddress}`];
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

function hostOf({ keystoneUrl }: CloudIdentity): string {
  const { protocol, hostname, port } = new URL(keystoneUrl.trim());
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`.toLowerCase();
}

function nameOf({ keystoneUrl, region = '' }: CloudIdentity): string {
  return `${keystoneUrl.trim().replace(/\/*(v3\/*)?$/, '')} ${region}`.toLowerCase();
}

function isFound<T>(found: Found<T>): boolean {
  return found.kind === 'found';
}
