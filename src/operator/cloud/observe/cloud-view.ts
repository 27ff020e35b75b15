import type { Cloud } from '../../../openstack/cloud.ts';
import type { Happening as CloudEvent } from '../../../openstack/notifications/envelope.ts';
import type { Server } from '../../../openstack/resources.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { Clock } from '../../../time/clock.ts';
import { PortDirectory } from './port-directory.ts';
import { RecentPorts } from './recent-ports.ts';

/** A cloud with the reads that its OpenstackConfigs share. */
export interface CloudView {
  readonly cloud: Cloud;
  readonly ports: Pick<PortDirectory, 'portsOf' | 'portsOfFew' | 'serversOf'>;
  readonly recentPorts: RecentPorts;
  readonly observedServers: ObservedServers;
}

/** View of a cloud, with all port directory methods. */
interface SharedView extends CloudView {
  readonly ports: PortDirectory;
}

/** All cloud views, and the view that each OpenstackConfig (`namespace/name`) reads. */
export class CloudViews {
  readonly #clock: Clock;
  readonly #lifetime: AbortSignal;
  readonly #views = new WeakMap<Cloud, SharedView>();
  /** `chooses`: the OpenstackConfig selects its servers from a project list. */
  readonly #members = new Map<string, { readonly view: SharedView; readonly chooses: boolean }>();

  constructor(clock: Clock, lifetime: AbortSignal) {
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  /**
   * Returns a cloud's view, and assigns the OpenstackConfig to this view only. `chooses`: the config selects
   * some servers by name or metadata instead of by id.
   */
  of(cloud: Cloud, member: string, chooses: boolean): CloudView {
    const view = this.#views.get(cloud) ?? this.#make(cloud);
    const before = this.#members.get(member)?.view;
    if (before !== undefined && before !== view) before.ports.leave(member);
    this.#members.set(member, { view, chooses });
    return view;
  }

  /**
   * Returns a cloud's view for one what-if, without assigning an OpenstackConfig to the view. `end` drops ports read
   * only by the what-if.
   */
  visit(cloud: Cloud): { readonly view: CloudView; end(): void } {
    const { ports, ...view } = this.#views.get(cloud) ?? this.#make(cloud);
    const visited: CloudView['ports'] = {
      portsOf: async (_member, ...request) => ports.portsOfFew(...request),
      portsOfFew: async (...request) => ports.portsOfFew(...request),
      serversOf: (member) => ports.serversOf(member),
    };
    return { view: { ...view, ports: visited }, end: () => ports.dropUnselected() };
  }

  /**
   * Returns the config's servers concerned by an event. A port event counts only if the port's server is
   * known.
   */
  concerned(member: string, { servers, ports }: CloudEvent): readonly string[] {
    return this.#members.get(member)?.view.ports.concerned(member, servers, ports) ?? [];
  }

  /** Returns whether the OpenstackConfig's cloud has read a network or subnet in the list. */
  knows(member: string, networks: readonly string[]): boolean {
    return this.#members.get(member)?.view.cloud.knowsNetwork(networks) ?? false;
  }

  /** Returns whether the OpenstackConfig may select a new server in a listed project. */
  chooses(member: string, projects: readonly string[]): boolean {
    const { view, chooses = false } = this.#members.get(member) ?? {};
    const projectId = view?.cloud.projectId;
    return chooses && projectId !== undefined && projects.includes(projectId);
  }

  /** Returns whether a listed account reads the OpenstackConfig's cloud. */
  readsAs(member: string, accounts: readonly string[]): boolean {
    return this.#members.get(member)?.view.cloud.isOf(accounts) ?? false;
  }

  /** Drops a removed OpenstackConfig's servers. */
  leave(member: string): void {
    this.#members.get(member)?.view.ports.leave(member);
    this.#members.delete(member);
  }

  #make(cloud: Cloud): SharedView {
    const clock = this.#clock;
    const recentPorts = new RecentPorts(clock);
    const ports = new PortDirectory({ cloud, clock, recentPorts, lifetime: this.#lifetime });
    const view = { cloud, ports, recentPorts, observedServers: new ObservedServers(clock) };
    this.#views.set(cloud, view);
    return view;
  }
}

/** Reads by id per sync: a wrong server list must not cost a call per server. */
const readsAtOnce = 5;
/** Lifetime of a cached 404, unless a list contains the server earlier. */
const rememberedMs = 5 * 60_000;
/** Most servers per project: autoscalers create more during a process lifetime than exist at once. */
export const mostObservedServers = 50_000;

/**
 * Servers observed by an account in its own project, and cached 404s. One instance per cloud, user and
 * project: a 404 proves a deletion only for an account with an earlier observation.
 */
export class ObservedServers {
  readonly #clock: Clock;
  /** Expiry time per cached 404, ordered by answer time. */
  readonly #until = new Map<string, number>();
  /** Ordered by last observation. */
  readonly #observed = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns whether the account has observed this server in its own project. A server from a foreign project
   * does not count: the account may have lost the role for reading the server.
   */
  hasObservedOwn(serverId: string): boolean {
    return this.#observed.has(serverId);
  }

  /** Number of cached Nova answers. */
  get size(): number {
    return this.#until.size + this.#observed.size;
  }

  /** Returns the servers with a 404 answer from Nova. */
  async missing(
    cloud: Pick<Cloud, 'projectId' | 'server'>,
    serverIds: readonly string[],
    found: ReadonlyMap<string, Server>,
    signal: AbortSignal,
  ): Promise<string[]> {
    for (const { id, projectId } of found.values()) {
      this.#until.delete(id);
      if (projectId === cloud.projectId) this.#addObserved(id);
    }
    this.#evictOld();
    const absent = serverIds.filter((id) => !found.has(id));
    const unsure = absent.filter((id) => !this.#isKnown(id)).slice(0, readsAtOnce);
    await Promise.all(unsure.map(async (id) => this.#read(cloud, id, signal)));
    return absent.filter((id) => this.#isKnown(id));
  }

  #addObserved(id: string): void {
    this.#observed.delete(id);
    this.#observed.add(id);
  }

  #evictOld(): void {
    const now = this.#clock.monotonicMs();
    for (const [id, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(id);
    }
    for (const id of this.#observed) {
      if (this.#observed.size <= mostObservedServers) break;
      this.#observed.delete(id);
    }
  }

  #isKnown(id: string): boolean {
    return (this.#until.get(id) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonicMs();
  }

  async #read(cloud: Pick<Cloud, 'server'>, id: string, signal: AbortSignal): Promise<void> {
    try {
      const { kind } = await cloud.server(id, signal);
      this.#until.delete(id);
      if (kind === 'notFound') this.#until.set(id, this.#clock.monotonicMs() + rememberedMs);
    } catch (error) {
      signal.throwIfAborted();
      // A failed read leaves the server not missing; the next poll repeats the read.
      if (!isRequestError(error)) throw error;
    }
  }
}
