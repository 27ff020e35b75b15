import type { NodePlan } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';

/**
 * Nova writes down that a port is gone when Neutron tells it to, mostly within seconds: it is asked again after these
 * milliseconds before anybody is told of a removal that nothing proves.
 */
const pausesMs = [1_000, 2_000, 5_000] as const;
/** More at once are no detached ports, but a cloud that cannot be believed. */
const mostServers = 10;

interface Doubt {
  readonly asked: number;
  /** Monotonic ms. */
  readonly dueAt: number;
}

/** Removals that nothing proves yet, by OpenstackConfig and server. */
export class Doubts {
  readonly #clock: Clock;
  readonly #doubts = new Map<string, Map<string, Doubt>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes what a look at some servers left unconfirmed: of one that has no node any more nothing is. */
  noteSome(key: string, servers: readonly string[], nodes: readonly NodePlan[]): void {
    const looked = new Set(servers);
    const others = [...(this.#doubts.get(key) ?? [])].filter(([id]) => !looked.has(id));
    this.#note(key, nodes, { others, isTold: false });
  }

  /**
   * Notes what a look at all nodes left unconfirmed. Answers the servers about which nobody is told yet; `isTold`: of this
   * OpenstackConfig that was said before.
   */
  noteAll(key: string, nodes: readonly NodePlan[], isTold: boolean): ReadonlySet<string> {
    return this.#note(key, nodes, { others: [], isTold });
  }

  #note(
    key: string,
    nodes: readonly NodePlan[],
    { others, isTold }: { readonly others: readonly [string, Doubt][]; readonly isTold: boolean },
  ): ReadonlySet<string> {
    const before = this.#doubts.get(key) ?? new Map<string, Doubt>();
    const doubtful = nodes.filter(isDoubtful).map(({ instanceId }) => instanceId);
    const tooMany = doubtful.length + others.length > mostServers;
    const now = new Map([
      ...others,
      ...doubtful.map((id) => [id, this.#next(before.get(id), isTold || tooMany)] as const),
    ]);
    if (now.size > 0) this.#doubts.set(key, now);
    else this.#doubts.delete(key);
    return new Set(doubtful.filter((id) => (now.get(id)?.asked ?? 0) < pausesMs.length));
  }

  /** Servers that are asked about again now. */
  due(key: string): string[] {
    const now = this.#clock.monotonicMs();
    return [...(this.#doubts.get(key) ?? [])].flatMap(([id, { dueAt }]) =>
      dueAt <= now ? [id] : [],
    );
  }

  /** Milliseconds until a server is asked about again; Infinity = none is. */
  nextMs(key: string): number {
    const times = [...(this.#doubts.get(key)?.values() ?? [])].map(({ dueAt }) => dueAt);
    return Math.max(0, Math.min(...times, Number.POSITIVE_INFINITY) - this.#clock.monotonicMs());
  }

  forget(key: string): void {
    this.#doubts.delete(key);
  }

  #next(before: Doubt | undefined, atOnce: boolean): Doubt {
    const now = this.#clock.monotonicMs();
    if (before === undefined) return atOnce ? told : { asked: 0, dueAt: now + pausesMs[0] };
    if (before.dueAt > now) return before;
    const asked = before.asked + 1;
    return { asked, dueAt: now + (pausesMs[asked] ?? Number.POSITIVE_INFINITY) };
  }
}

const told: Doubt = { asked: pausesMs.length, dueAt: Number.POSITIVE_INFINITY };

/** A port without an address is there: asking Nova again proves nothing. */
function isDoubtful({ removals }: NodePlan): boolean {
  return removals.unconfirmed.some(({ cause }) => cause === 'unconfirmed');
}
