import { unlessAborted } from '../requests/unless-aborted.ts';
import type { Clock } from '../time/clock.ts';
import type { Nova } from './nova.ts';
import type { Server } from './resources.ts';

type Servers = ReadonlyMap<string, Server>;

export interface ServerListsOptions {
  readonly nova: Pick<Nova, 'list' | 'tagged'>;
  readonly clock: Clock;
  /** Aborts lists that no caller awaits. */
  readonly lifetime: AbortSignal;
  /** Called with every list, whose names and metadata then need no extra read. */
  readonly onListed: (servers: Servers) => void;
}

interface List {
  /** Monotonic time before the request started. */
  readonly at: number;
  readonly servers: Promise<Servers>;
}

/** Lifetime of a list (10 min). */
const lifetimeMs = 10 * 60_000;

/** Server lists per project and tag set, shared by all selectors. */
export class ServerLists {
  readonly #options: ServerListsOptions;
  readonly #lists = new Map<string, List>();

  constructor(options: ServerListsOptions) {
    this.#options = options;
  }

  /**
   * Returns the servers that carry all these tags, listed no earlier than `since` (monotonic milliseconds; Infinity:
   * list now).
   */
  async get(tags: readonly string[], since: number, signal: AbortSignal): Promise<Servers> {
    const key = JSON.stringify([...new Set(tags)].toSorted());
    const known = this.#lists.get(key);
    const list = known !== undefined && known.at >= since ? known : this.#start(key, tags);
    return unlessAborted(list.servers, signal);
  }

  #start(key: string, tags: readonly string[]): List {
    const { nova, clock, lifetime, onListed } = this.#options;
    const at = clock.monotonicMs();
    for (const [other, list] of this.#lists)
      if (list.at < at - lifetimeMs) this.#lists.delete(other);
    const servers = tags.length === 0 ? nova.list(lifetime) : nova.tagged(tags, lifetime);
    const list = { at, servers };
    this.#lists.set(key, list);
    // Failures are not cached, but reach all waiting callers.
    servers.then(onListed, () => {
      if (this.#lists.get(key) === list) this.#lists.delete(key);
    });
    return list;
  }
}
