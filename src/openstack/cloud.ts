import type { Found, Network, Port, Server, ServerInterface, Subnet } from './resources.ts';
import type { TlsOptions } from './transport.ts';

/** Everything that makes two clouds different: who asks what, as whom, scoped to which project. */
export interface CloudIdentity {
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly projectId: string;
  readonly region?: string;
  readonly interface: 'public' | 'internal' | 'admin';
  /** Wins over the catalog. */
  readonly neutronUrl?: string;
  /** Wins over the catalog. */
  readonly novaUrl?: string;
  readonly tls: TlsOptions;
  readonly timeoutMs: number;
}

/** One project of one OpenStack, read only. Every method throws OpenstackError. */
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
