import type { Cloud } from '../../openstack/cloud.ts';
import type { Happening as Hint } from '../../openstack/notifications/envelope.ts';
import type { Server } from '../../openstack/resources.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { Clock } from '../../time/clock.ts';
import { PortDirectory } from './port-directory.ts';
import { RecentPorts } from './recent-ports.ts';

/** What a cloud is looked at with; shared by all OpenstackConfigs that name it. */
export interface CloudView {
  readonly cloud: Cloud;
  readonly ports: PortDirectory;
  readonly recentPorts: RecentPorts;
  readonly serversSeen: ServersSeen;
}

/** What OpenstackConfigs share about the clouds they look at. */
export class CloudViews {
  readonly #clock: Clock;
  readonly #lifetime: AbortSignal;
  readonly #views = new WeakMap<Cloud, CloudView>();
  /** By member; `chooses`: it finds its servers among those of the project. */
  readonly #looking = new Map<string, { readonly view: CloudView; readonly chooses: boolean }>();

  constructor(clock: Clock, lifetime: AbortSignal) {
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  /**
   * The view of a cloud; the OpenstackConfig no longer looks at any other. `chooses`: it does not name all of its servers
   * by their ids.
   */
  of(cloud: Cloud, member: string, chooses: boolean): CloudView {
    const view = this.#views.get(cloud) ?? this.#make(cloud);
    const before = this.#looking.get(member)?.view;
    if (before !== undefined && before !== view) before.ports.leave(member);
    this.#looking.set(member, { view, chooses });
    return view;
  }

  /** Who looks at the same OpenStack as this OpenstackConfig, in whichever project. */
  companions(member: string): ReadonlySet<string> {
    const name = this.#looking.get(member)?.view.cloud.name;
    const same = [...this.#looking].filter(([, { view }]) => view.cloud.name === name);
    return new Set(same.map(([key]) => key));
  }

  /** The servers of an OpenstackConfig that a hint is about, as far as it is known where their ports are. */
  concerned(member: string, { servers, ports }: Hint): readonly string[] {
    return this.#looking.get(member)?.view.ports.concerned(member, servers, ports) ?? [];
  }

  /** Whether any of these networks or subnets was read for the cloud that the OpenstackConfig looks at. */
  knows(member: string, networks: readonly string[]): boolean {
    return this.#looking.get(member)?.view.cloud.knowsNetwork(networks) ?? false;
  }

  /** Whether a new server in any of these projects may be one that the OpenstackConfig selects. */
  chooses(member: string, projects: readonly string[]): boolean {
    const { view, chooses = false } = this.#looking.get(member) ?? {};
    const projectId = view?.cloud.projectId;
    return chooses && projectId !== undefined && projects.includes(projectId);
  }

  /** Whether any of these accounts is one that the OpenstackConfig looks as. */
  looksAs(member: string, accounts: readonly string[]): boolean {
    return this.#looking.get(member)?.view.cloud.isOf(accounts) ?? false;
  }

  leave(member: string): void {
    this.#looking.get(member)?.view.ports.leave(member);
    this.#looking.delete(member);
  }

  #make(cloud: Cloud): CloudView {
    const clock = this.#clock;
    const recentPorts = new RecentPorts(clock);
    const ports = new PortDirectory({ cloud, clock, recentPorts, lifetime: this.#lifetime });
    const view = { cloud, ports, recentPorts, serversSeen: new ServersSeen(clock) };
    this.#views.set(cloud, view);
    return view;
  }
}

/** Reads by id per sync: a wrong list of servers must not cost a call for each of them. */
const readsAtOnce = 5;
/** How long a 404 is believed; the server counts as there again as soon as a list shows it. */
const rememberedMs = 5 * 60_000;
/** Of one project; autoscalers make more in the lifetime of a process than there ever are at once. */
export const mostServersSeen = 50_000;

/**
 * What one account saw of the servers of its project, and which of them it is told do not exist. One per cloud, user and
 * project: a 404 means something only to who saw the server before.
 */
export class ServersSeen {
  readonly #clock: Clock;
  /** Until when a 404 is believed; in the order in which they came. */
  readonly #until = new Map<string, number>();
  /** In the order in which they were seen last. */
  readonly #seen = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether the account saw this server in its own project. One of another project it may have seen by a role that it has
   * no longer.
   */
  sawOwn(serverId: string): boolean {
    return this.#seen.has(serverId);
  }

  /** How many answers of Nova it remembers. */
  get size(): number {
    return this.#until.size + this.#seen.size;
  }

  /** Which of these servers Nova, asked by id, does not know. */
  async missing(
    cloud: Pick<Cloud, 'projectId' | 'server'>,
    serverIds: readonly string[],
    found: ReadonlyMap<string, Server>,
    signal: AbortSignal,
  ): Promise<string[]> {
    for (const { id, projectId } of found.values()) {
      this.#until.delete(id);
      if (projectId === cloud.projectId) this.#see(id);
    }
    this.#forgetOld();
    const absent = serverIds.filter((id) => !found.has(id));
    const unsure = absent.filter((id) => !this.#isKnown(id)).slice(0, readsAtOnce);
    await Promise.all(unsure.map(async (id) => this.#ask(cloud, id, signal)));
    return absent.filter((id) => this.#isKnown(id));
  }

  #see(id: string): void {
    this.#seen.delete(id);
    this.#seen.add(id);
  }

  #forgetOld(): void {
    const now = this.#clock.monotonicMs();
    for (const [id, until] of this.#until) {
      if (until > now) break;
      this.#until.delete(id);
    }
    for (const id of this.#seen) {
      if (this.#seen.size <= mostServersSeen) break;
      this.#seen.delete(id);
    }
  }

  #isKnown(id: string): boolean {
    return (this.#until.get(id) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonicMs();
  }

  async #ask(cloud: Pick<Cloud, 'server'>, id: string, signal: AbortSignal): Promise<void> {
    try {
      const { kind } = await cloud.server(id, signal);
      this.#until.delete(id);
      if (kind === 'notFound') this.#until.set(id, this.#clock.monotonicMs() + rememberedMs);
    } catch (error) {
      signal.throwIfAborted();
      // Not known to be missing, then; it is asked again at the next poll.
      if (!isRequestError(error)) throw error;
    }
  }
}
