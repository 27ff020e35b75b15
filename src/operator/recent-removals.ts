import type { Plan } from '../plan/plan.ts';
import type { Clock } from '../time/clock.ts';

/** A look at all servers comes about so often while much changes. */
const rememberedMs = 60_000;

/**
 * NICs that looks at some servers have removed lately, by cloud: a large removal that is seen server by server is held
 * like one that is seen at once.
 */
export class RecentRemovals {
  readonly #clock: Clock;
  readonly #removals = new Map<string, { readonly at: number; readonly count: number }[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(cloud: string, { nodes }: Pick<Plan, 'nodes'>): void {
    const count = nodes
      .filter(({ action }) => action !== 'none')
      .flatMap(({ removals }) => removals.confirmed).length;
    if (count === 0) return;
    this.#removals.set(cloud, [...this.#recent(cloud), { at: this.#clock.monotonicMs(), count }]);
  }

  count(cloud: string): number {
    return this.#recent(cloud).reduce((sum, { count }) => sum + count, 0);
  }

  #recent(cloud: string) {
    const oldest = this.#clock.monotonicMs() - rememberedMs;
    return (this.#removals.get(cloud) ?? []).filter(({ at }) => at > oldest);
  }
}
