import { nicsGoing } from '../../plan/calculate.ts';
import type { NodePlan } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';

/** Longer than all cloud events for one large deletion take. */
const rememberedMs = 60_000;

/**
 * NICs removed within the last minute because of cloud events, per cloud: a large removal split across events
 * is blocked like a large removal in one event.
 */
export class RecentRemovals {
  readonly #clock: Clock;
  /** Last removal time per NIC (monotonic ms), by cloud. */
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
