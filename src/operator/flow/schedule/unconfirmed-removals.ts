import type { NodePlan } from '../../../plan/plan.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ConfigMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';

/**
 * Milliseconds before each retry for a removal without evidence. Nova records a detached port when Neutron
 * notifies Nova, usually within seconds. Only after these retries does the status report the removal as
 * unconfirmed.
 */
const pausesMs = [1_000, 2_000, 5_000] as const;
/**
 * Unconfirmed removals on more servers indicate wrong cloud answers, not detached ports: reported without
 * retries.
 */
const mostServers = 10;

interface Retry {
  /** Retries until now. */
  readonly count: number;
  /** Monotonic ms. */
  readonly dueAt: number;
}

/** One OpenstackConfig's servers with removals that have no evidence yet. */
export class UnconfirmedRemovals {
  readonly #clock: Clock;
  #retries: ReadonlyMap<string, Retry> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a partial sync for these servers; a server without a node has no unconfirmed removal. */
  noteSome(servers: readonly string[], nodes: readonly NodePlan[]): void {
    const synced = new Set(servers);
    const unsynced = [...this.#retries].filter(([id]) => !synced.has(id));
    this.#note(nodes, { unsynced, isReported: false });
  }

  /**
   * Records a sync of all servers. Returns the servers to retry before the status reports their removals.
   * `isReported`: the status already reports this OpenstackConfig, and waits for no retry.
   */
  noteAll(nodes: readonly NodePlan[], isReported: boolean): ReadonlySet<string> {
    return this.#note(nodes, { unsynced: [], isReported });
  }

  /** Returns the servers with a due retry. */
  due(): string[] {
    const now = this.#clock.monotonicMs();
    return [...this.#retries].flatMap(([id, { dueAt }]) => (dueAt <= now ? [id] : []));
  }

  /** Returns the milliseconds until the next retry; Infinity: no retry is pending. */
  nextMs(): number {
    const times = [...this.#retries.values()].map(({ dueAt }) => dueAt);
    return Math.max(0, Math.min(...times, Number.POSITIVE_INFINITY) - this.#clock.monotonicMs());
  }

  #note(
    nodes: readonly NodePlan[],
    {
      unsynced,
      isReported,
    }: { readonly unsynced: readonly [string, Retry][]; readonly isReported: boolean },
  ): ReadonlySet<string> {
    const before = this.#retries;
    const unconfirmed = nodes.filter(isUnconfirmed).map(({ instanceId }) => instanceId);
    const tooMany = unconfirmed.length + unsynced.length > mostServers;
    const retries = new Map([
      ...unsynced,
      ...unconfirmed.map((id) => [id, this.#next(before.get(id), isReported || tooMany)] as const),
    ]);
    this.#retries = retries;
    return new Set(unconfirmed.filter((id) => (retries.get(id)?.count ?? 0) < pausesMs.length));
  }

  #next(before: Retry | undefined, isReported: boolean): Retry {
    const now = this.#clock.monotonicMs();
    if (before === undefined)
      return isReported ? exhausted : { count: 0, dueAt: now + pausesMs[0] };
    if (before.dueAt > now) return before;
    const count = before.count + 1;
    return { count, dueAt: now + (pausesMs[count] ?? Number.POSITIVE_INFINITY) };
  }
}

const exhausted: Retry = { count: pausesMs.length, dueAt: Number.POSITIVE_INFINITY };

/** Returns whether a retry can bring evidence. A port without an address exists: a retry brings no evidence. */
function isUnconfirmed({ removals }: NodePlan): boolean {
  return removals.unconfirmed.some(({ cause }) => cause === 'unconfirmed');
}

export const unconfirmedRemovals = new Slot(
  ({ clock }: ConfigMemory) => new UnconfirmedRemovals(clock),
);
