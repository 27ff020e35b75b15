import type { Logger } from '../process/log.ts';
import { createCaller, type RequestSample } from '../requests/caller.ts';
import type { Transport } from '../requests/transport.ts';
import type { Clock, Random } from '../time/clock.ts';
import type { CatalogLimits, CloudIdentity } from './cloud-identity.ts';
import { createServices } from './cloud-services.ts';
import type { CredentialGate } from './credential-gate.ts';
import { createDeletions } from './deletions.ts';
import { createKeystone } from './keystone.ts';
import { createNetworkCache } from './network-cache.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { answerFailure } from './requests/answer-failure.ts';
import type { Query } from './requests/service-client.ts';
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
type CacheName = 'networks' | 'providers' | 'servers' | 'subnet_names' | 'subnets' | 'tokens';

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

/** Creates the Cloud for one identity. */
export function createCloud(identity: CloudIdentity, options: CloudOptions): Cloud {
  const { clock, lifetime, turns } = options;
  const { tls, timeoutMs } = identity;
  const caller = createCaller({ ...options, failureOf: answerFailure, tls, timeoutMs });
  const onToken = (isHit: boolean) => options.onLookup?.('tokens', isHit);
  const keystone = createKeystone({ ...options, identity, caller, onLookup: onToken });
  const { neutron, nova } = createServices(identity, { ...options, keystone, caller });
  const onServers = (isHit: boolean) => options.onLookup?.('servers', isHit);
  const directory = createServerDirectory({ nova, clock, turns, lifetime, onLookup: onServers });
  const onListed = (servers: ReadonlyMap<string, Server>) => directory.learn(servers);
  const lists = new ServerLists({ nova, clock, lifetime, onListed });
  const deletions = createDeletions({ nova, clock, lifetime });
  const networks = createNetworkCache({ ...options, neutron, keystone });

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
    subnet: async (id, signal) => networks.subnet(id, signal),
    subnetsByName: async (name, signal) => networks.subnetsByName(name, signal),
    network: async (id, signal) => networks.network(id, signal),
    isOf: (accounts) => accounts.some((id) => keystone.accounts?.includes(id) ?? true),
    knowsNetwork: (ids) => networks.knows(ids),
    freshen(since) {
      networks.forgetBefore(since);
      directory.forgetBefore(since);
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

function hostOf({ keystoneUrl }: CloudIdentity): string {
  const { protocol, hostname, port } = new URL(keystoneUrl.trim());
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`.toLowerCase();
}

function nameOf({ keystoneUrl, region = '' }: CloudIdentity): string {
  return `${keystoneUrl.trim().replace(/\/*(v3\/*)?$/, '')} ${region}`.toLowerCase();
}
