import { budgetWindowMs } from '../../api/removals.ts';
import type { SentRelease } from '../../plan/plan.ts';
import type { Clock } from '../../time/clock.ts';
import type { ConfigMemory } from '../model/memory/config-memory.ts';
import { Slot } from '../model/memory/slot.ts';

/**
 * In-memory cache about an OpenstackConfig's removals. After a restart an unfinished recorded removal counts twice, and a
 * release is sent again.
 */
class RemovalMemory {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #recorded: readonly string[] = [];
  #sent: readonly { readonly release: SentRelease; readonly at: number }[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** NICs (`nicAt`) that are recorded in the status and not removed yet. */
  get recordedNics(): readonly string[] {
    return this.#recorded;
  }

  /** Records planned removals for some servers, and forgets NICs without a planned removal. */
  noteRecorded(nics: readonly string[], isInScope: (serverId: string) => boolean): void {
    const rest = this.#recorded.filter((nic) => !isInScope(nic.split(' ')[0] ?? ''));
    this.#recorded = [...rest, ...nics];
  }

  /** Releases for kept NICs, sent within the last hour. */
  get sentReleases(): readonly SentRelease[] {
    const oldest = this.#clock.monotonicMs() - budgetWindowMs;
    this.#sent = this.#sent.filter(({ at }) => at > oldest);
    return this.#sent.map(({ release }) => release);
  }

  noteSent(releases: readonly SentRelease[]): void {
    const at = this.#clock.monotonicMs();
    const sent = new Set(this.#sent.map(({ release }) => JSON.stringify(release)));
    const fresh = releases.filter((release) => !sent.has(JSON.stringify(release)));
    this.#sent = [...this.#sent, ...fresh.map((release) => ({ release, at }))];
  }
}

/** An OpenstackConfig's removals in this process. */
export const removalMemory = new Slot(({ clock }: ConfigMemory) => new RemovalMemory(clock));
