import type { Cloud } from '../../openstack/cloud.ts';
import type { Port } from '../../openstack/resources.ts';
import { nextTurn } from '../../process/slices.ts';
import { unlessAborted } from '../../requests/unless-aborted.ts';
import type { Clock } from '../../time/clock.ts';
import type { RecentPorts } from './recent-ports.ts';

/** Neutron is asked for so many servers at a time; a place that is left in a batch costs nothing. */
const batchSize = 100;

interface Entry {
  /** Monotonic time before the list was asked for. */
  readonly at: number;
  /** When something was last said of these ports while the list was under way; it may not know of that. */
  readonly saidAt: number;
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
  readonly #members = new Map<string, ReadonlySet<string>>();
  readonly #entries = new Map<string, Entry>();
  readonly #flights = new Map<string, Flight>();
  /** Ports of which something was said while lists were under way, and when. */
  readonly #said = new Map<string, number>();

  constructor(options: PortDirectoryOptions) {
    this.#options = options;
  }

  /** Ports of all servers of an OpenstackConfig, listed no earlier than `since` (monotonic ms; Infinity = for this call). */
  async portsOf(
    member: string,
    serverIds: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<readonly Port[]> {
    const now = new Set(serverIds);
    const before = this.#members.get(member) ?? [];
    this.#members.set(member, now);
    if ([...before].some((id) => !now.has(id))) this.#forgetUnwanted();
    return this.#listed(serverIds, since, (rest) => this.#filledUp(rest), signal);
  }

  /** Ports of some servers and no others: few are listed in a tenth of the time. */
  async portsOfFew(
    serverIds: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<readonly Port[]> {
    return this.#listed(serverIds, since, (rest) => rest, signal);
  }

  /** The servers whose ports were asked for as all those of a member. */
  serversOf(member: string): readonly string[] {
    return [...(this.#members.get(member) ?? [])];
  }

  /**
   * Something was said of these servers and ports. Answers which servers of a member these are, or had these ports when
   * they were listed last; what lists that are under way say of the ports is not believed.
   */
  concerned(member: string, serverIds: readonly string[], portIds: readonly string[]): string[] {
    const now = this.#options.clock.monotonicMs();
    if (this.#flights.size > 0) for (const id of portIds) this.#said.set(id, now);
    const own = this.#members.get(member) ?? new Set();
    const moved = new Set(portIds);
    const holders = [...own].filter((id) =>
      this.#entries.get(id)?.ports.some((port) => moved.has(port.id)),
    );
    return [...new Set([...serverIds.filter((id) => own.has(id)), ...holders])];
  }

  /** The OpenstackConfig looks at no server any more. */
  leave(member: string): void {
    this.#members.delete(member);
    this.#forgetUnwanted();
  }

  #forgetUnwanted(): void {
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
    // Who detaches a port names no server, and while a port is listed first nobody knows where it is. Once: now that is known.
    const overtaken = serverIds.filter((id) => this.#at(id) < this.#saidAt(id));
    if (overtaken.length > 0) {
      const said = Math.max(...overtaken.map((id) => this.#saidAt(id)));
      await this.#refreshed(overtaken, said, (rest) => rest, signal);
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

  #saidAt(serverId: string): number {
    return this.#entries.get(serverId)?.saidAt ?? Number.NEGATIVE_INFINITY;
  }

  #at(serverId: string): number {
    return this.#entries.get(serverId)?.at ?? Number.NEGATIVE_INFINITY;
  }

  #filledUp(serverIds: readonly string[]): readonly string[] {
    const room = Math.ceil(serverIds.length / batchSize) * batchSize - serverIds.length;
    if (room === 0) return serverIds;
    const asked = new Set(serverIds);
    const others = new Set([...this.#members.values()].flatMap((ids) => [...ids]));
    const free = [...others].filter((id) => !asked.has(id) && !this.#flights.has(id));
    return [...serverIds, ...free.toSorted((a, b) => this.#at(a) - this.#at(b)).slice(0, room)];
  }

  #list(serverIds: readonly string[]): void {
    const { cloud, clock, lifetime, recentPorts } = this.#options;
    const at = clock.monotonicMs();
    const listed = cloud.portsOf(serverIds, lifetime).then(async (ports) => {
      // Ten thousand take a while, and are learnt at once: another list may come in between.
      await nextTurn();
      // A flawed port has no revision to compare.
      const known = ports.map((port) => (port.flaw ? port : recentPorts.latest(port)));
      const byServer = Map.groupBy(known, ({ deviceId }) => deviceId);
      // One that names no server may be at any of them.
      const unplaced = byServer.get('') ?? [];
      for (const id of serverIds) {
        // A list that was asked for later may have come earlier.
        if (this.#at(id) <= at) this.#learn(id, at, [...(byServer.get(id) ?? []), ...unplaced]);
      }
    });
    const flight = { at, landed: listed };
    for (const id of serverIds) this.#flights.set(id, flight);
    const land = (): void => {
      for (const id of serverIds) if (this.#flights.get(id) === flight) this.#flights.delete(id);
      this.#forgetSaid();
    };
    // Whoever waits for the flight gets its error.
    listed.then(land, land);
  }

  /** What no list under way can have missed. */
  #forgetSaid(): void {
    const flights = [...this.#flights.values()];
    const oldest = flights.reduce((min, { at }) => Math.min(min, at), Number.POSITIVE_INFINITY);
    for (const [id, saidAt] of this.#said) if (saidAt <= oldest) this.#said.delete(id);
  }

  #learn(serverId: string, at: number, ports: readonly Port[]): void {
    const before = this.#entries.get(serverId);
    const saidAt = ports.reduce(
      (last, { id }) => Math.max(last, this.#said.get(id) ?? last),
      Number.NEGATIVE_INFINITY,
    );
    this.#entries.set(serverId, { at, saidAt, ports });
    // Of a server that was never listed everything would be new.
    if (!before) return;
    for (const port of ports) {
      if (port.flaw) continue;
      const known = before.ports.find(({ id }) => id === port.id);
      this.#options.recentPorts.note(port, known);
    }
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
