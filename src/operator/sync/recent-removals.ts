import { nicsGoing } from '../../plan/calculate.ts';
import type { NodePlan } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';

/** Longer than the cloud events of one large deletion take. */
const rememberedMs = 60_000;

/**
 * NICs that were removed within the last minute because of cloud events, by cloud: a large removal in several events is held
 * like one in a single event.
 */
export class RecentRemovals {
  readonly #clock: Clock;
  /** Time of the last removal of each NIC (monotonic ms), by cloud. */
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
