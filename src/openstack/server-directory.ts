import { mapBounded } from '../process/bounded.ts';
import { isRequestError } from '../requests/request-error.ts';
import type { Clock } from '../time/clock.ts';
import type { Nova } from './nova.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { malformed } from './requests/found.ts';
import { flawedServer, type Server } from './resources.ts';
import { SingleFlight } from './single-flight.ts';

/** Names and metadata of servers, remembered for minutes: they hardly ever change, and lists are dear to Nova. */
export interface ServerDirectory {
  /** The servers that Nova shows; an absent id is simply absent. */
  servers(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /** Somebody else has read these servers. */
  learn(servers: ReadonlyMap<string, Server>): void;
  /** Forgets what was read before `since` (monotonic ms). */
  forgetBefore(since: number): void;
}

export interface ServerDirectoryOptions {
  readonly nova: Pick<Nova, 'list' | 'server'>;
  readonly clock: Clock;
  readonly turns: RefreshTurns;
  /** Ends lists that nobody waits for any more. */
  readonly lifetime: AbortSignal;
  /** Told of each question whether the answer was remembered. */
  readonly onLookup?: (isHit: boolean) => void;
}

interface Entry {
  /** Missing: Nova said 404. */
  readonly server: Server | undefined;
  /** When it came: monotonic time. */
  readonly at: number;
  readonly until: number;
}

const knownMs = 5 * 60_000;
const unknownMs = 30_000;
// A server by id costs Nova as much as ten in a list, but a list costs all servers of the project.
const fewServers = 10;
const readsAtOnce = 4;

/** Makes the directory of one cloud; its list is shared by everybody who asks meanwhile. */
export function createServerDirectory(options: ServerDirectoryOptions): ServerDirectory {
  const { nova, clock, turns, lifetime } = options;
  const lists = new SingleFlight<void>();
  let entries = new Map<string, Entry>();

  function remember(id: string, server: Server | undefined): void {
    const isKnown = server !== undefined && server.flaw === undefined;
    const ttlMs = isKnown ? knownMs : unknownMs;
    // In the order in which they were asked for.
    entries.delete(id);
    const at = clock.monotonicMs();
    entries.set(id, { server, at, until: at + ttlMs });
  }

  function stale(ids: readonly string[]): string[] {
    const now = clock.monotonicMs();
    return ids.filter((id) => (entries.get(id)?.until ?? -1) <= now);
  }

  /** Whether what is known of these servers may be used a little longer. */
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
      // One server that cannot be read keeps no other from being read.
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
    // A list shows one project; an administrator may ask for servers of others, by id only. Those that are gone would else
    // keep the ones behind them from being asked for at all.
    const rest = stale(wanted).toSorted((a, b) => (order.get(a) ?? -1) - (order.get(b) ?? -1));
    for (const id of rest.slice(fewServers)) remember(id, undefined);
    forgetUnused();
    await mapBounded(rest.slice(0, fewServers), readsAtOnce, readOne, signal);
  }

  /** Few that come and go at a time are never listed, and a list alone would have them go. */
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
