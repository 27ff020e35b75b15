import type { Clock } from '../time/clock.ts';
import type { Nova } from './nova.ts';
import type { Server } from './resources.ts';
import { SingleFlight } from './single-flight.ts';

/** Servers that Nova lists as deleted. A 404 by id alone may also mean a server that is invisible to the account. */
export interface Deletions {
  has(serverId: string, signal: AbortSignal): Promise<boolean>;
  /** Returns the soft-deleted servers by id; Nova's other lists omit them. */
  soft(signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
}

export interface DeletionsOptions {
  readonly nova: Pick<Nova, 'changedSince'>;
  readonly clock: Clock;
  /** Aborts list requests that no caller awaits. */
  readonly lifetime: AbortSignal;
}

/** Covers operator downtime. Clouds that archive deleted servers sooner list fewer. */
const windowMs = 7 * 24 * 3_600_000;
/** List lifetime (5 min). Most callers have a wrong project configured and repeat the question at every poll. */
const listedMs = 5 * 60_000;

/** Creates the deleted-server lookup for one cloud and project. */
export function createDeletions({ nova, clock, lifetime }: DeletionsOptions): Deletions {
  const lists = new SingleFlight<void>();
  let deleted: ReadonlySet<string> = new Set();
  let soft: ReadonlyMap<string, Server> = new Map();
  let listedAt = Number.NEGATIVE_INFINITY;

  async function list(): Promise<void> {
    const startedAt = clock.monotonicMs();
    const since = new Date(clock.now().getTime() - windowMs);
    const changed = await nova.changedSince(since, lifetime);
    const gone = [...changed.values()].filter(({ status }) => status === 'DELETED');
    deleted = new Set(gone.map(({ id }) => id));
    soft = new Map([...changed].filter(([, { status }]) => status === 'SOFT_DELETED'));
    listedAt = startedAt;
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    if (clock.monotonicMs() - listedAt > listedMs) await lists.run('', signal, list);
  }

  return {
    async has(serverId, signal) {
      if (deleted.has(serverId)) return true;
      await refresh(signal);
      return deleted.has(serverId);
    },
    async soft(signal) {
      await refresh(signal);
      return soft;
    },
  };
}
