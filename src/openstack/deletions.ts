import type { Clock } from '../time/clock.ts';
import type { Nova } from './nova.ts';
import { SingleFlight } from './single-flight.ts';

/** Servers that Nova lists as deleted: what a 404 by id cannot tell from a server that the account may not see. */
export interface Deletions {
  has(serverId: string, signal: AbortSignal): Promise<boolean>;
}

export interface DeletionsOptions {
  readonly nova: Pick<Nova, 'changedSince'>;
  readonly clock: Clock;
  /** Ends lists that nobody waits for any more. */
  readonly lifetime: AbortSignal;
}

/** Looked back so far, as this process may have been down; who archives deleted servers sooner has fewer of them. */
const windowMs = 7 * 24 * 3_600_000;
/** A list answers all who ask meanwhile: who asks has mostly named a wrong project, and asks at every poll. */
const listedMs = 5 * 60_000;

/** Makes the deletions of one cloud and project. */
export function createDeletions({ nova, clock, lifetime }: DeletionsOptions): Deletions {
  const lists = new SingleFlight<void>();
  let deleted: ReadonlySet<string> = new Set();
  let listedAt = Number.NEGATIVE_INFINITY;

  async function list(): Promise<void> {
    const asked = clock.monotonicMs();
    const since = new Date(clock.now().getTime() - windowMs);
    const changed = await nova.changedSince(since, lifetime);
    const gone = [...changed.values()].filter(({ status }) => status === 'DELETED');
    deleted = new Set(gone.map(({ id }) => id));
    listedAt = asked;
  }

  return {
    async has(serverId, signal) {
      if (deleted.has(serverId)) return true;
      if (clock.monotonicMs() - listedAt > listedMs) await lists.run('', signal, list);
      return deleted.has(serverId);
    },
  };
}
