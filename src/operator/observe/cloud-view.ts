import type { Cloud } from '../../openstack/cloud.ts';
import type { Port, Server } from '../../openstack/resources.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { unlessAborted } from '../../requests/unless-aborted.ts';
import type { Clock } from '../../time/clock.ts';

/** What a cloud is looked at with; shared by all OpenstackConfigs that name it. */
export interface CloudView {
  readonly cloud: Cloud;
  readonly ports: PortDirectory;
  readonly serversSeen: ServersSeen;
}

/** What OpenstackConfigs share about the clouds they look at. */
export class CloudViews {
  readonly #clock: Clock;
  readonly #lifetime: AbortSignal;
  readonly #views = new WeakMap<Cloud, CloudView>();
  readonly #looking = new Map<string, CloudView>();

  constructor(clock: Clock, lifetime: AbortSignal) {
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  /** The view of a cloud; the OpenstackConfig no longer looks at any other. */
  of(cloud: Cloud, member: string): CloudView {
    const view = this.#views.get(cloud) ?? this.#make(cloud);
    const before = this.#looking.get(member);
    if (before !== undefined && before !== view) before.ports.leave(member);
    this.#looking.set(member, view);
    return view;
  }

  /** Who looks at the same OpenStack as this OpenstackConfig, in whichever project. */
  companions(member: string): ReadonlySet<string> {
    const name = this.#looking.get(member)?.cloud.name;
    const same = [...this.#looking].filter(([, { cloud }]) => cloud.name === name);
    return new Set(same.map(([key]) => key));
  }

  leave(member: string): void {
    this.#looking.get(member)?.ports.leave(member);
    this.#looking.delete(member);
  }

  #make(cloud: Cloud): CloudView {
    const clock = this.#clock;
    const ports = new PortDirectory({ cloud, clock, lifetime: this.#lifetime });
    const view = { cloud, ports, serversSeen: new ServersSeen(clock) };
    this.#views.set(cloud, view);
    return view;
  }
}

/** Neutron is asked for so many servers at a time; a place that is left in a batch costs nothing. */
const batchSize = 100;

interface Entry {
  /** Monotonic time before the list was asked for. */
  readonly at: number;
  readonly ports: readonly Port[];
}

interface PortDirectoryOptions {
  readonly cloud: Pick<Cloud, 'portsOf'>;
  readonly clock: Clock;
  /** Ends lists that several may be waiting for. */
  readonly lifetime: AbortSignal;
}

/**
 * Ports of the servers of one cloud and project, listed once for all OpenstackConfigs that look at them: who lists takes
 * the servers of the others along, oldest first, as far as the batches have room. Only an optimisation: nothing is
 * planned from an entry older than the caller allows.
 */
export class PortDirectory {
  readonly #options: PortDirectoryOptions;
  readonly #members = new Map<string, readonly string[]>();
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Map<string, Promise<void>>();

  constructor(options: PortDirectoryOptions) {
    this.#options = options;
  }

  /** Ports of these servers, none of them listed longer ago than `maxAgeMs`; 0 = listed for this call. */
  async portsOf(
    member: string,
    serverIds: readonly string[],
    maxAgeMs: number,
    signal: AbortSignal,
  ): Promise<readonly Port[]> {
    this.#members.set(member, serverIds);
    const oldest = this.#options.clock.monotonicMs() - maxAgeMs;
    const old = serverIds.filter((id) => maxAgeMs === 0 || this.#at(id) < oldest);
    const rest = old.filter((id) => maxAgeMs === 0 || !this.#flights.has(id));
    if (rest.length > 0) this.#list(this.#filledUp(rest));
    const flights = new Set(old.flatMap((id) => this.#flights.get(id) ?? []));
    await unlessAborted(Promise.all(flights), signal);
    return latest(serverIds.flatMap((id) => this.#entries.get(id) ?? []));
  }

  /** The OpenstackConfig looks at no server any more. */
  leave(member: string): void {
    this.#members.delete(member);
    const wanted = new Set([...this.#members.values()].flat());
    for (const id of this.#entries.keys()) if (!wanted.has(id)) this.#entries.delete(id);
  }

  #at(serverId: string): number {
    return this.#entries.get(serverId)?.at ?? Number.NEGATIVE_INFINITY;
  }

  #filledUp(serverIds: readonly string[]): readonly string[] {
    const room = Math.ceil(serverIds.length / batchSize) * batchSize - serverIds.length;
    const asked = new Set(serverIds);
    const others = new Set([...this.#members.values()].flat());
    const free = [...others].filter((id) => !asked.has(id) && !this.#flights.has(id));
    return [...serverIds, ...free.toSorted((a, b) => this.#at(a) - this.#at(b)).slice(0, room)];
  }

  #list(serverIds: readonly string[]): void {
    const { cloud, clock, lifetime } = this.#options;
    const at = clock.monotonicMs();
    const flight = cloud.portsOf(serverIds, lifetime).then((ports) => {
      const byServer = Map.groupBy(ports, ({ deviceId }) => deviceId);
      for (const id of serverIds) {
        // A list that was asked for later may have come earlier.
        if (this.#at(id) <= at) this.#entries.set(id, { at, ports: byServer.get(id) ?? [] });
      }
    });
    for (const id of serverIds) this.#flights.set(id, flight);
    const landed = (): void => {
      for (const id of serverIds) if (this.#flights.get(id) === flight) this.#flights.delete(id);
    };
    // Whoever waits for the flight gets its error.
    flight.then(landed, landed);
  }
}

/** A port that moved between two lists is in both; the younger one is right. */
function latest(entries: readonly Entry[]): readonly Port[] {
  const times = new Set(entries.map(({ at }) => at));
  if (times.size < 2) return entries.flatMap(({ ports }) => ports);
  const byId = new Map<string, Port>();
  for (const { ports } of entries.toSorted((a, b) => a.at - b.at)) {
    for (const port of ports) byId.set(port.id, port);
  }
  return [...byId.values()];
}

/** Reads by id per sync: a wrong list of servers must not cost a call for each of them. */
const readsAtOnce = 5;
/** How long a 404 is believed; the server counts as there again as soon as a list shows it. */
const rememberedMs = 5 * 60_000;

/**
 * What one account saw of the servers of its project, and which of them it is told do not exist. One per cloud, user and
 * project: a 404 means something only to who saw the server before.
 */
export class ServersSeen {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();
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

  /** Which of these servers Nova, asked by id, does not know. */
  async missing(
    cloud: Pick<Cloud, 'projectId' | 'server'>,
    serverIds: readonly string[],
    found: ReadonlyMap<string, Server>,
    signal: AbortSignal,
  ): Promise<string[]> {
    for (const { id, projectId } of found.values()) {
      this.#until.delete(id);
      if (projectId === cloud.projectId) this.#seen.add(id);
    }
    const absent = serverIds.filter((id) => !found.has(id));
    const unsure = absent.filter((id) => !this.#isKnown(id)).slice(0, readsAtOnce);
    await Promise.all(unsure.map(async (id) => this.#ask(cloud, id, signal)));
    return absent.filter((id) => this.#isKnown(id));
  }

  #isKnown(id: string): boolean {
    return (this.#until.get(id) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonicMs();
  }

  async #ask(cloud: Pick<Cloud, 'server'>, id: string, signal: AbortSignal): Promise<void> {
    try {
      const { kind } = await cloud.server(id, signal);
      if (kind === 'notFound') this.#until.set(id, this.#clock.monotonicMs() + rememberedMs);
      else this.#until.delete(id);
    } catch (error) {
      signal.throwIfAborted();
      // Not known to be missing, then; it is asked again at the next poll.
      if (!isRequestError(error)) throw error;
    }
  }
}
