import { unlessAborted } from '../requests/unless-aborted.ts';
import type { Clock } from '../time/clock.ts';
import type { Nova } from './nova.ts';
import type { Server } from './resources.ts';

type Servers = ReadonlyMap<string, Server>;

export interface ServerListsOptions {
  readonly nova: Pick<Nova, 'list' | 'tagged'>;
  readonly clock: Clock;
  /** Ends lists that nobody waits for any more. */
  readonly lifetime: AbortSignal;
  /** Told of every list, as names and metadata need not be read again then. */
  readonly onListed: (servers: Servers) => void;
}

interface List {
  /** Monotonic time before it was asked for. */
  readonly at: number;
  readonly servers: Promise<Servers>;
}

/** What nobody has asked for longer goes. */
const keptMs = 10 * 60_000;

/** The servers of one project, all of them or those with some tags, listed once for all who select among them. */
export class ServerLists {
  readonly #options: ServerListsOptions;
  readonly #lists = new Map<string, List>();

  constructor(options: ServerListsOptions) {
    this.#options = options;
  }

  /** The servers that carry all these tags, listed no earlier than `since` (monotonic ms; Infinity = for this call). */
  async get(tags: readonly string[], since: number, signal: AbortSignal): Promise<Servers> {
    const key = JSON.stringify([...new Set(tags)].toSorted());
    const known = this.#lists.get(key);
    const list = known !== undefined && known.at >= since ? known : this.#start(key, tags);
    return unlessAborted(list.servers, signal);
  }

  #start(key: string, tags: readonly string[]): List {
    const { nova, clock, lifetime, onListed } = this.#options;
    const at = clock.monotonicMs();
    for (const [other, list] of this.#lists) if (list.at < at - keptMs) this.#lists.delete(other);
    const servers = tags.length === 0 ? nova.list(lifetime) : nova.tagged(tags, lifetime);
    const list = { at, servers };
    this.#lists.set(key, list);
    // A failure is not remembered; whoever waits for the list gets it.
    servers.then(onListed, () => {
      if (this.#lists.get(key) === list) this.#lists.delete(key);
    });
    return list;
  }
}
