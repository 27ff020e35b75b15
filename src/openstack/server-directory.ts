import { mapBounded } from '../process/bounded.ts';
import { isRequestError } from '../requests/request-error.ts';
import type { Clock } from '../time/clock.ts';
import type { Nova } from './nova.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { malformed } from './requests/found.ts';
import { flawedServer, type Server } from './resources.ts';
import { SingleFlight } from './single-flight.ts';

/** Server names and metadata, cached for 5 minutes: both rarely change, and lists are expensive for Nova. */
export interface ServerDirectory {
  /** Returns the servers that Nova shows; other ids are absent. */
  servers(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /** Adds servers read elsewhere. */
  learn(servers: ReadonlyMap<string, Server>): void;
  /** Drops entries read before `since` (monotonic milliseconds). */
  forgetBefore(since: number): void;
}

export interface ServerDirectoryOptions {
  readonly nova: Pick<Nova, 'list' | 'server'>;
  readonly clock: Clock;
  readonly turns: RefreshTurns;
  /** Aborts lists that no caller awaits. */
  readonly lifetime: AbortSignal;
  /** Called on each cache lookup. */
  readonly onLookup?: (isHit: boolean) => void;
}

interface Entry {
  /** undefined: Nova answered 404. */
  readonly server: Server | undefined;
  /** Time when the entry was stored (monotonic milliseconds). */
  readonly at: number;
  readonly until: number;
}

const knownMs = 5 * 60_000;
const unknownMs = 30_000;
// One read by id costs Nova as much as ten servers in a list, but a list costs all the project's servers.
const fewServers = 10;
const readsAtOnce = 4;

/** Creates one cloud's directory; concurrent callers share its list. */
export function createServerDirectory(options: ServerDirectoryOptions): ServerDirectory {
  const { nova, clock, turns, lifetime } = options;
  const lists = new SingleFlight<void>();
  let entries = new Map<string, Entry>();

  function remember(id: string, server: Server | undefined): void {
    const isKnown = server !== undefined && server.flaw === undefined;
    const ttlMs = isKnown ? knownMs : unknownMs;
    // Moves the entry to the end, in request order.
    entries.delete(id);
    const at = clock.monotonicMs();
    entries.set(id, { server, at, until: at + ttlMs });
  }

  function stale(ids: readonly string[]): string[] {
    const now = clock.monotonicMs();
    return ids.filter((id) => (entries.get(id)?.until ?? -1) <= now);
  }

  /** True if all entries are present and usable a little longer, without a refresh now. */
  function suffices(ids: readonly string[]): boolean {
    const oldest = clock.monotonicMs() - 2 * knownMs;
    const usable = ids.every((id) => {
      const entry = entries.get(id);
      return entry?.server !== undefined && entry.until > oldest;
    });
    return usable && !turns.take();
  }

  async function readOne(id: string, signal: AbortSignal): Promise<void> {
    try {
      const found = await nova.server(id, signal);
      remember(id, found.kind === 'found' ? found.value : undefined);
    } catch (error) {
      // One unreadable server must not block the other reads.
      if (!isRequestError(error) || error.code !== malformed) throw error;
      remember(id, flawedServer({ id }, error.reason));
    }
  }

  async function list(wanted: readonly string[]): Promise<void> {
    learn(await nova.list(lifetime, wanted));
  }

  function learn(listed: ReadonlyMap<string, Server>): void {
    const now = clock.monotonicMs();
    entries = new Map([...entries].filter(([, { until }]) => until > now));
    for (const [id, server] of listed) remember(id, server);
  }

  async function readAgain(
    wanted: readonly string[],
    old: number,
    signal: AbortSignal,
  ): Promise<void> {
    const order = new Map([...entries.keys()].map((id, place) => [id, place]));
    if (old > fewServers) await lists.run('', signal, async () => list(wanted));
    // Lists cover one project; an administrator may need servers from other projects, readable only by id. Least
    // recently requested ids go first: deleted servers must not starve later ids.
    const rest = stale(wanted).toSorted((a, b) => (order.get(a) ?? -1) - (order.get(b) ?? -1));
    for (const id of rest.slice(fewServers)) remember(id, undefined);
    forgetUnused();
    await mapBounded(rest.slice(0, fewServers), readsAtOnce, readOne, signal);
  }

  /** Drops expired entries that no list would drop: few servers at a time never cause a list. */
  function forgetUnused(): void {
    const oldest = clock.monotonicMs() - 2 * knownMs;
    for (const [id, { until }] of entries) if (until <= oldest) entries.delete(id);
  }

  return {
    learn,
    forgetBefore(since) {
      for (const [id, { at }] of entries) if (at < since) entries.delete(id);
    },
    async servers(ids, signal) {
      const wanted = [...new Set(ids)].filter((id) => id !== '');
      const old = stale(wanted);
      const isHit = old.length === 0 || suffices(old);
      options.onLookup?.(isHit);
      if (!isHit) await readAgain(wanted, old.length, signal);
      const result = new Map<string, Server>();
      for (const id of wanted) {
        const server = entries.get(id)?.server;
        if (server !== undefined) result.set(id, server);
      }
      return result;
    },
  };
}
