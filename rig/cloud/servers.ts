import type { Clock } from '../../src/time/clock.ts';
import { newUuid } from './ids.ts';
import type { InfoCache } from './info-cache.ts';
import type { Port, Ports } from './ports.ts';
import { Refusal } from './refusal.ts';

export interface Server {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly userId: string;
  readonly status: 'BUILD' | 'ACTIVE' | 'ERROR' | 'SHELVED_OFFLOADED' | 'SOFT_DELETED' | 'DELETED';
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewServer {
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly networkIds?: readonly string[] | undefined;
  readonly portIds?: readonly string[] | undefined;
}

export interface AttachTarget {
  readonly portId?: string | undefined;
  readonly networkId?: string | undefined;
  readonly fixedIp?: string | undefined;
}

export interface ServersOptions {
  readonly clock: Clock;
  readonly ports: Ports;
  readonly infoCache: InfoCache;
  /** How long a boot and a detach take behind the answer. */
  readonly workMs: number;
  readonly lifetime: AbortSignal;
}

/** Servers and what is attached to them. */
export class Servers {
  readonly #options: ServersOptions;
  readonly #servers = new Map<string, Server>();
  /** What Nova keeps of servers that are gone, until it is archived. */
  readonly #deleted = new Map<string, Server>();

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** Boots: the answer says BUILD, and ACTIVE comes later with the ports bound. */
  create(request: NewServer): Server {
    const { clock, ports } = this.#options;
    const { projectId, userId, name, metadata = {} } = request;
    for (const id of request.portIds ?? []) this.#free(ports.port(id));
    const now = clock.now();
    const id = newUuid();
    const server: Server = {
      id,
      name,
      projectId,
      userId,
      status: 'BUILD',
      metadata,
      tags: [],
      createdAt: now,
      updatedAt: now,
    };
    this.#servers.set(id, server);
    for (const portId of request.portIds ?? []) ports.bind(portId, id);
    for (const networkId of request.networkIds ?? []) {
      ports.bind(ports.create({ projectId, networkId, novaMade: true }).id, id);
    }
    this.#later(() => {
      if (!this.#servers.has(id)) return;
      this.#options.infoCache.refresh(id);
      this.setStatus(id, 'ACTIVE');
    });
    return server;
  }

  setStatus(id: string, status: Exclude<Server['status'], 'DELETED'>): void {
    const server = this.server(id);
    this.#servers.set(server.id, { ...server, status, updatedAt: this.#options.clock.now() });
  }

  /** Changes what tenants may change; tags leave the time of the last update as it is. */
  change(id: string, change: Partial<Pick<Server, 'name' | 'metadata' | 'tags'>>): Server {
    const server = this.server(id);
    const updatedAt = 'tags' in change ? server.updatedAt : this.#options.clock.now();
    const changed = { ...server, ...change, updatedAt };
    this.#servers.set(server.id, changed);
    return changed;
  }

  /** Goes on behind the answer, as a shelve does. */
  setStatusLater(id: string, status: 'ACTIVE' | 'SHELVED_OFFLOADED'): void {
    const server = this.server(id);
    this.#later(() => {
      if (this.#servers.has(server.id)) this.setStatus(server.id, status);
    });
  }

  server(id: string): Server {
    const server = this.#servers.get(id.toLowerCase());
    if (server !== undefined) return server;
    throw new Refusal(404, 'itemNotFound', `Instance ${id} could not be found.`);
  }

  /** Newest first, as Nova lists them: without soft-deleted servers, which GET by id and changes-since return. */
  all(): readonly Server[] {
    const live = [...this.#servers.values()].filter(({ status }) => status !== 'SOFT_DELETED');
    return live.toReversed();
  }

  /** Newest first, with those that are gone. */
  changedSince(since: Date): readonly Server[] {
    const all = [...this.#servers.values(), ...this.#deleted.values()];
    const changed = all.filter(({ updatedAt }) => updatedAt >= since);
    return changed.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
  }

  /** The port it attached; the answer comes after Neutron's bind. */
  attach(serverId: string, target: AttachTarget): Port {
    const { infoCache } = this.#options;
    const server = this.server(serverId);
    const port = this.#attached(server, target);
    infoCache.refresh(server.id);
    return port;
  }

  #attached(server: Server, target: AttachTarget): Port {
    const { ports } = this.#options;
    const { projectId, id: serverId } = server;
    if (target.portId !== undefined) {
      const port = this.#free(this.#portForNova(target.portId));
      if (port.projectId === projectId) return ports.bind(port.id, serverId);
      const message = `Port ${port.id} not usable for instance ${serverId}.`;
      throw new Refusal(400, 'badRequest', message);
    }
    const networkId = target.networkId ?? '';
    const fixedIps =
      target.fixedIp === undefined ? {} : { fixedIps: [{ ipAddress: target.fixedIp }] };
    try {
      const made = ports.create({ projectId, networkId, ...fixedIps, novaMade: true });
      return ports.bind(made.id, serverId);
    } catch (error) {
      throw attachRefusal(error, target);
    }
  }

  /** Accepts every detach of a known server and does it later; of a port that is not attached, never. */
  detach(serverId: string, portId: string): void {
    this.server(serverId);
    this.#later(() => {
      const { ports } = this.#options;
      if (!ports.of(serverId).some((port) => port.id === portId)) return;
      ports.release(portId);
      this.#options.infoCache.refresh(serverId);
    });
  }

  delete(id: string): void {
    const server = this.server(id);
    for (const port of this.#options.ports.of(id)) this.#options.ports.release(port.id);
    this.#servers.delete(server.id);
    const updatedAt = this.#options.clock.now();
    this.#deleted.set(server.id, { ...server, status: 'DELETED', updatedAt });
  }

  #portForNova(id: string): Port {
    try {
      return this.#options.ports.port(id);
    } catch (error) {
      const message = `Port id ${id} could not be found.`;
      throw error instanceof Refusal ? new Refusal(404, 'itemNotFound', message) : error;
    }
  }

  #free(port: Port): Port {
    if (port.deviceId === '') return port;
    throw new Refusal(409, 'conflictingRequest', `Port ${port.id} is still in use.`);
  }

  #later(work: () => void): void {
    const { clock, workMs, lifetime } = this.#options;
    clock.sleep(workMs, lifetime).then(work, () => undefined /* the cloud was closed first */);
  }
}

// Nova's own words for what Neutron refused.
function attachRefusal(error: unknown, target: AttachTarget): unknown {
  if (!(error instanceof Refusal)) return error;
  if (error.type === 'IpAddressAlreadyAllocated') {
    const message = `Fixed IP ${target.fixedIp} is already in use.`;
    return new Refusal(409, 'conflictingRequest', message);
  }
  return new Refusal(
    500,
    'computeFault',
    "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class 'oslo_messaging.rpc.client.RemoteError'>",
  );
}
