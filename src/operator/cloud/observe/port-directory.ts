import type { Cloud } from '../../../openstack/cloud.ts';
import type { Port } from '../../../openstack/resources.ts';
import { nextTurn } from '../../../process/slices.ts';
import { unlessAborted } from '../../../requests/unless-aborted.ts';
import type { Clock } from '../../../time/clock.ts';
import type { RecentPorts } from './recent-ports.ts';

/** Servers per Neutron query; filling a batch with further servers costs nothing. */
const batchSize = 100;

interface Entry {
  /** Monotonic time just before the list request. */
  readonly at: number;
  /** Time of the last event about these ports during the list request; the list may predate this event. */
  readonly eventAt: number;
  readonly ports: readonly Port[];
}

interface Flight {
  readonly at: number;
  readonly landed: Promise<void>;
}

interface PortDirectoryOptions {
  readonly cloud: Pick<Cloud, 'portsOf'>;
  readonly clock: Clock;
  readonly recentPorts: RecentPorts;
  /** Aborts lists with possibly several waiting callers. */
  readonly lifetime: AbortSignal;
}

/**
 * Ports of all servers in one cloud and project, listed once for all OpenstackConfigs. A list also covers the
 * least recently listed servers selected by further OpenstackConfigs, while its batches have room. Only an
 * optimisation: no plan uses an entry older than the caller allows.
 */
export class PortDirectory {
  readonly #options: PortDirectoryOptions;
  readonly #members = new Map<string, ReadonlySet<string>>();
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Map<string, Flight>();
  /** Last event time per port, for events during running lists. */
  readonly #eventTimes = new Map<string, number>();

  constructor(options: PortDirectoryOptions) {
    this.#options = options;
  }

  /**
   * Returns the ports for all of an OpenstackConfig's servers, listed no earlier than `since` (monotonic ms;
   * Infinity: list for this call).
   */
  async portsOf(
    member: string,
    serverIds: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<readonly Port[]> {
    const now = new Set(serverIds);
    const before = this.#members.get(member) ?? [];
    this.#members.set(member, now);
    if ([...before].some((id) => !now.has(id))) this.dropUnselected();
    return this.#listed(serverIds, since, (rest) => this.#filledUp(rest), signal);
  }

  /** Returns only the ports for these servers: a short list takes a tenth of the time. */
  async portsOfFew(
    serverIds: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<readonly Port[]> {
    return this.#listed(serverIds, since, (rest) => rest, signal);
  }

  /** Returns the servers from the member's last `portsOf` call. */
  serversOf(member: string): readonly string[] {
    return [...(this.#members.get(member) ?? [])];
  }

  /**
   * Records an event about these servers and ports. Returns the member's servers named by the event, or with
   * an affected port at the last list. Running lists are not trusted for these ports.
   */
  concerned(member: string, serverIds: readonly string[], portIds: readonly string[]): string[] {
    const now = this.#options.clock.monotonicMs();
    if (this.#flights.size > 0) for (const id of portIds) this.#eventTimes.set(id, now);
    const own = this.#members.get(member) ?? new Set();
    const moved = new Set(portIds);
    const holders = [...own].filter((id) =>
      this.#entries.get(id)?.ports.some((port) => moved.has(port.id)),
    );
    return [...new Set([...serverIds.filter((id) => own.has(id)), ...holders])];
  }

  /** Drops a removed OpenstackConfig, or a config without servers. */
  leave(member: string): void {
    this.#members.delete(member);
    this.dropUnselected();
  }

  /** Drops the ports on servers without an OpenstackConfig. */
  dropUnselected(): void {
    const wanted = new Set([...this.#members.values()].flatMap((ids) => [...ids]));
    for (const id of this.#entries.keys()) if (!wanted.has(id)) this.#entries.delete(id);
  }

  async #listed(
    serverIds: readonly string[],
    since: number,
    batch: (rest: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Port[]> {
    await this.#refreshed(serverIds, since, batch, signal);
    // A detach event names no server, and during a first list the port's server is unknown. List once more:
    // the server is known now.
    const overtaken = serverIds.filter((id) => this.#at(id) < this.#eventAt(id));
    if (overtaken.length > 0) {
      const lastEvent = Math.max(...overtaken.map((id) => this.#eventAt(id)));
      await this.#refreshed(overtaken, lastEvent, (rest) => rest, signal);
    }
    return latest(serverIds.flatMap((id) => this.#entries.get(id) ?? []));
  }

  async #refreshed(
    serverIds: readonly string[],
    since: number,
    batch: (rest: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const isOld = (known: { readonly at: number } | undefined) => !known || known.at < since;
    const old = serverIds.filter((id) => isOld(this.#entries.get(id)));
    const rest = old.filter((id) => isOld(this.#flights.get(id)));
    if (rest.length > 0) this.#list(batch(rest));
    const flights = new Set(old.flatMap((id) => this.#flights.get(id)?.landed ?? []));
    await unlessAborted(Promise.all(flights), signal);
  }

  #eventAt(serverId: string): number {
    return this.#entries.get(serverId)?.eventAt ?? Number.NEGATIVE_INFINITY;
  }

  #at(serverId: string): number {
    return this.#entries.get(serverId)?.at ?? Number.NEGATIVE_INFINITY;
  }

  #filledUp(serverIds: readonly string[]): readonly string[] {
    const room = Math.ceil(serverIds.length / batchSize) * batchSize - serverIds.length;
    if (room === 0) return serverIds;
    const requested = new Set(serverIds);
    const selected = new Set([...this.#members.values()].flatMap((ids) => [...ids]));
    const free = [...selected].filter((id) => !requested.has(id) && !this.#flights.has(id));
    return [...serverIds, ...free.toSorted((a, b) => this.#at(a) - this.#at(b)).slice(0, room)];
  }

  #list(serverIds: readonly string[]): void {
    const { cloud, clock, lifetime, recentPorts } = this.#options;
    const at = clock.monotonicMs();
    const listed = cloud.portsOf(serverIds, lifetime).then(async (ports) => {
      // Adding 10,000 ports takes long, in a single turn; a newer list may arrive before.
      await nextTurn();
      // A flawed port has no revision to compare.
      const known = ports.map((port) => (port.flaw ? port : recentPorts.latest(port)));
      const byServer = Map.groupBy(known, ({ deviceId }) => deviceId);
      // A port without a server may belong to any server.
      const unplaced = byServer.get('') ?? [];
      for (const id of serverIds) {
        // Skip if a list with a later request has arrived earlier.
        if (this.#at(id) <= at) this.#learn(id, at, [...(byServer.get(id) ?? []), ...unplaced]);
      }
    });
    const flight = { at, landed: listed };
    for (const id of serverIds) this.#flights.set(id, flight);
    const land = (): void => {
      for (const id of serverIds) if (this.#flights.get(id) === flight) this.#flights.delete(id);
      this.#forgetOldEvents();
    };
    // Callers waiting for the flight get its error.
    listed.then(land, land);
  }

  /** Drops events older than every running list. */
  #forgetOldEvents(): void {
    const flights = [...this.#flights.values()];
    const oldest = flights.reduce((min, { at }) => Math.min(min, at), Number.POSITIVE_INFINITY);
    for (const [id, eventAt] of this.#eventTimes)
      if (eventAt <= oldest) this.#eventTimes.delete(id);
  }

  #learn(serverId: string, at: number, ports: readonly Port[]): void {
    const before = this.#entries.get(serverId);
    const eventAt = ports.reduce(
      (last, { id }) => Math.max(last, this.#eventTimes.get(id) ?? last),
      Number.NEGATIVE_INFINITY,
    );
    this.#entries.set(serverId, { at, eventAt, ports });
    // Without a previous list every port would count as new.
    if (!before) return;
    for (const port of ports) {
      if (port.flaw) continue;
      const known = before.ports.find(({ id }) => id === port.id);
      this.#options.recentPorts.note(port, known);
    }
  }
}

/** Returns each port once. A port moved between two lists is in both; the younger list is right. */
function latest(entries: readonly Entry[]): readonly Port[] {
  const times = new Set(entries.map(({ at }) => at));
  if (times.size < 2) return entries.flatMap(({ ports }) => ports);
  const byId = new Map<string, Port>();
  for (const { ports } of entries.toSorted((a, b) => a.at - b.at)) {
    for (const port of ports) byId.set(port.id, port);
  }
  return [...byId.values()];
}
