import type { Logger } from '../process/log.ts';
import { createCaller, type RequestSample } from '../requests/caller.ts';
import type { Transport } from '../requests/transport.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type Catalog, endpointUrl } from './catalog.ts';
import type { CloudIdentity } from './cloud-identity.ts';
import { neutronBase, novaBase } from './endpoint.ts';
import { createKeystone } from './keystone.ts';
import { createNeutron } from './neutron.ts';
import { createNova, novaHeaders } from './nova.ts';
import { answerFailure } from './requests/answer-failure.ts';
import { createServiceClient } from './requests/service-client.ts';
import type { Found, Network, Port, Server, ServerInterface, Subnet } from './resources.ts';
import { createServerDirectory } from './server-directory.ts';
import { TtlCache } from './ttl-cache.ts';

/** One project of one OpenStack, read only. Every method throws RequestError. */
export interface Cloud {
  /** All ports attached to these servers, complete or an error; asks for at most 100 servers at a time. */
  portsOf(serverIds: readonly string[], signal: AbortSignal): Promise<readonly Port[]>;
  /** A port by id, never cached: evidence for removals. */
  port(id: string, signal: AbortSignal): Promise<Found<Port>>;
  /** Cached for minutes unless `fresh`: a removal's evidence must be read, not remembered. */
  subnet(
    id: string,
    signal: AbortSignal,
    options?: { readonly fresh?: boolean },
  ): Promise<Found<Subnet>>;
  /** The project's subnets of exactly this name; cached for minutes. */
  subnetsByName(name: string, signal: AbortSignal): Promise<readonly Subnet[]>;
  /** Cached for minutes. */
  network(id: string, signal: AbortSignal): Promise<Found<Network>>;
  /** Names and metadata, cached for minutes; an id that Nova does not show is absent, which proves nothing. */
  servers(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /** A server by id, never cached; status `DELETED` is possible. */
  server(id: string, signal: AbortSignal): Promise<Found<Server>>;
  /** The NICs that Nova has on a server, never cached: evidence for removals. */
  interfacesOf(serverId: string, signal: AbortSignal): Promise<Found<readonly ServerInterface[]>>;
  /** HTTP requests sent so far, logins and repeats included. */
  readonly calls: number;
}

export interface CloudOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Ends shared work when the process stops. */
  readonly lifetime: AbortSignal;
  readonly onRequest?: ((sample: RequestSample) => void) | undefined;
  readonly onRefused?: () => void;
}

const networkTtlMs = 5 * 60_000;
const networkCapacity = 10_000;

/** Makes the Cloud of one identity. */
export function createCloud(identity: CloudIdentity, options: CloudOptions): Cloud {
  const { clock, lifetime } = options;
  const { tls, timeoutMs } = identity;
  const caller = createCaller({ ...options, failureOf: answerFailure, tls, timeoutMs });
  const keystone = createKeystone({ ...options, identity, caller });
  const neutron = createNeutron(
    createServiceClient({
      service: 'neutron',
      keystone,
      caller,
      clock,
      base: (catalog) => neutronBase(identity.neutronUrl ?? chosen(identity, 'network', catalog)),
    }),
  );
  const nova = createNova(
    createServiceClient({
      service: 'nova',
      keystone,
      caller,
      clock,
      base: (catalog) => novaBase(identity.novaUrl ?? chosen(identity, 'compute', catalog)),
      headers: novaHeaders,
    }),
    { timeoutMs: identity.timeoutMs },
  );
  const directory = createServerDirectory({ nova, clock, lifetime });
  const cache = { clock, ttlMs: networkTtlMs, capacity: networkCapacity };
  const subnets = new TtlCache<Found<Subnet>>({ ...cache, keeps: isFound });
  const networks = new TtlCache<Found<Network>>({ ...cache, keeps: isFound });
  const named = new TtlCache<readonly Subnet[]>({ ...cache, keeps: (list) => list.length > 0 });

  return {
    portsOf: async (serverIds, signal) => neutron.portsOf(serverIds, signal),
    port: async (id, signal) => neutron.port(id, signal),
    server: async (id, signal) => nova.server(id, signal),
    interfacesOf: async (serverId, signal) => nova.interfaces(serverId, signal),
    servers: async (ids, signal) => directory.servers(ids, signal),
    async subnet(id, signal, { fresh = false } = {}) {
      if (!fresh) return subnets.get(id, signal, async () => neutron.subnet(id, lifetime));
      const subnet = await neutron.subnet(id, signal);
      subnets.set(id, subnet);
      return subnet;
    },
    async subnetsByName(name, signal) {
      // As administrator the list would span all projects, and names are not unique.
      const filter = [
        ['name', name],
        ['project_id', identity.projectId],
      ] as const;
      return named.get(name, signal, async () => neutron.subnets(filter, lifetime));
    },
    async network(id, signal) {
      return networks.get(id, signal, async () => neutron.network(id, lifetime));
    },
    get calls() {
      return caller.calls;
    },
  };
}

function chosen(identity: CloudIdentity, type: 'network' | 'compute', catalog: Catalog): string {
  return endpointUrl(catalog, {
    service: type === 'network' ? 'neutron' : 'nova',
    type,
    interface: identity.interface,
    region: identity.region,
  });
}

function isFound<T>(found: Found<T>): boolean {
  return found.kind === 'found';
}
