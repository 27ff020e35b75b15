import type { Cloud } from '../../openstack/cloud.ts';
import type { Server } from '../../openstack/resources.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { Clock } from '../../time/clock.ts';

/** Reads by id per sync: a wrong list of servers must not cost a call for each of them. */
const readsAtOnce = 5;
/** How long a 404 is believed; the server counts as there again as soon as a list shows it. */
const rememberedMs = 5 * 60_000;

/** Tells servers that do not exist from those that a list merely did not show; one per cloud. */
export class MissingServers {
  readonly #clock: Clock;
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Which of these servers Nova, asked by id, does not know. */
  async among(
    cloud: Pick<Cloud, 'server'>,
    serverIds: readonly string[],
    found: ReadonlyMap<string, Server>,
    signal: AbortSignal,
  ): Promise<string[]> {
    for (const id of found.keys()) this.#until.delete(id);
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
