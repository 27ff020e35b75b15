import type { NodePlan } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';

/**
 * Milliseconds before each retry of a removal without evidence. Nova records that a port is gone when Neutron notifies it,
 * mostly within seconds: the status reports the removal as unconfirmed only after these retries.
 */
const pausesMs = [1_000, 2_000, 5_000] as const;
/** More servers at once are no detached ports, but a cloud with wrong answers: reported without retries. */
const mostServers = 10;

interface Retry {
  /** Retries so far. */
  readonly count: number;
  /** Monotonic ms. */
  readonly dueAt: number;
}

/** Servers of one OpenstackConfig with removals that have no evidence yet. */
export class UnconfirmedRemovals {
  readonly #clock: Clock;
  #retries: ReadonlyMap<string, Retry> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes the result of a sync of these servers; a server without a node has nothing unconfirmed. */
  noteSome(servers: readonly string[], nodes: readonly NodePlan[]): void {
    const synced = new Set(servers);
    const others = [...this.#retries].filter(([id]) => !synced.has(id));
    this.#note(nodes, { others, isReported: false });
  }

  /**
   * Notes the result of a sync of all servers. Returns the servers that are retried before the status reports them.
   * `isReported`: the status has reported this OpenstackConfig already, so retries are not waited for.
   */
  noteAll(nodes: readonly NodePlan[], isReported: boolean): ReadonlySet<string> {
    return this.#note(nodes, { others: [], isReported });
  }

  /** Returns the servers whose retry is due. */
  due(): string[] {
    const now = this.#clock.monotonicMs();
    return [...this.#retries].flatMap(([id, { dueAt }]) => (dueAt <= now ? [id] : []));
  }

  /** Returns the milliseconds until the next retry; Infinity: there is none. */
  nextMs(): number {
    const times = [...this.#retries.values()].map(({ dueAt }) => dueAt);
    return Math.max(0, Math.min(...times, Number.POSITIVE_INFINITY) - this.#clock.monotonicMs());
  }

  #note(
    nodes: readonly NodePlan[],
    {
      others,
      isReported,
    }: { readonly others: readonly [string, Retry][]; readonly isReported: boolean },
  ): ReadonlySet<string> {
    const before = this.#retries;
    const unconfirmed = nodes.filter(isUnconfirmed).map(({ instanceId }) => instanceId);
    const tooMany = unconfirmed.length + others.length > mostServers;
    const retries = new Map([
      ...others,
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

/** A port without an address exists: a retry brings no evidence for it. */
function isUnconfirmed({ removals }: NodePlan): boolean {
  return removals.unconfirmed.some(({ cause }) => cause === 'unconfirmed');
}
