import type { Cloud } from '../../openstack/cloud.ts';
import type { Server } from '../../openstack/resources.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { Clock } from '../../time/clock.ts';

/** Reads by id per sync: a wrong list of servers must not cost a call for each of them. */
const readsAtOnce = 5;
/** How long a 404 is believed; the server counts as there again as soon as a list shows it. */
const rememberedMs = 5 * 60_000;

/**
 * What one account saw of the servers of its project, and which of them it is told do not exist. One per cloud, user and
 * project: a 404 means something only to who saw the server before.
 */
export class ServerSightings {
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
