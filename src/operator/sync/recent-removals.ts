import { nicsGoing } from '../../plan/calculate.ts';
import type { NodePlan } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';

/** Longer than one deletion of many takes to be told server by server. */
const rememberedMs = 60_000;

/**
 * NICs that were removed lately because something was said of their servers, by cloud: a large removal that is seen server
 * by server is held like one that is seen at once.
 */
export class RecentRemovals {
  readonly #clock: Clock;
  /** When each was last removed (monotonic ms). */
  readonly #removals = new Map<string, Map<string, number>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(cloud: string, nodes: readonly NodePlan[]): void {
    const going = nicsGoing(nodes.filter(({ removalsAllowed }) => !removalsAllowed));
    if (going.length === 0) return;
    const now = this.#clock.monotonicMs();
    const removals = going.map(({ item }) => [item, now] as const);
    this.#removals.set(cloud, new Map([...this.#recent(cloud), ...removals]));
  }

  of(cloud: string): string[] {
    return this.#recent(cloud).map(([nic]) => nic);
  }

  #recent(cloud: string) {
    const oldest = this.#clock.monotonicMs() - rememberedMs;
    return [...(this.#removals.get(cloud) ?? [])].filter(([, at]) => at > oldest);
  }
}
