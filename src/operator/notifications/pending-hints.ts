import type { Happening as Hint } from '../../openstack/notifications/envelope.ts';
import type { Clock } from '../../time/clock.ts';
import { passed } from '../../time/clock.ts';

/** What an attach causes comes in pieces, about as far apart. */
export const gatheredMs = 300;
/** A look at everything costs OpenStack so much more that a busy cloud must not ask for one all the time. */
export const wholeEveryMs = 10_000;
/** More than this is cheaper looked at as a whole. */
export const mostRemembered = 1_000;

/** What may concern everything that somebody looks at. */
const wideKinds = ['networks', 'projects', 'accounts'] as const;
const kinds = ['servers', 'ports', ...wideKinds] as const;
type WideHint = Omit<Hint, 'servers' | 'ports'>;
const nothingWide: WideHint = { networks: [], projects: [], accounts: [], whole: false };

/** What is waited for: the rest of a change, or leave to look at everything again. */
type Timer = 'gathering' | 'sparing';

/** Gathers hints, and hands them on together. */
export class PendingHints {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onHint: (hint: Hint) => void;
  readonly #ids = {
    servers: new Set<string>(),
    ports: new Set<string>(),
    networks: new Set<string>(),
    projects: new Set<string>(),
    accounts: new Set<string>(),
  };
  #whole = false;
  readonly #timers = new Set<Timer>();
  #wideAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, signal: AbortSignal, onHint: (hint: Hint) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onHint = onHint;
  }

  add({ whole, ...said }: Hint): void {
    const sets = Object.values(this.#ids);
    for (const kind of kinds) for (const id of said[kind]) this.#ids[kind].add(id);
    this.#whole ||= whole;
    if (sets.reduce((sum, { size }) => sum + size, 0) > mostRemembered) {
      for (const set of sets) set.clear();
      this.#whole = true;
    }
    void this.#handOnAfter('gathering', gatheredMs);
  }

  async #handOnAfter(timer: Timer, ms: number): Promise<void> {
    if (this.#timers.has(timer)) return;
    this.#timers.add(timer);
    const isDue = await passed(this.#clock, ms, this.#signal);
    this.#timers.delete(timer);
    if (isDue) this.#handOn();
  }

  #handOn(): void {
    const now = this.#clock.monotonicMs();
    const untilWide = this.#wideAt + wholeEveryMs - now;
    const wide = untilWide <= 0 ? this.#takeWide() : nothingWide;
    if (saysSomething(wide)) this.#wideAt = now;
    const { servers, ports } = this.#ids;
    const hint = { servers: taken(servers), ports: taken(ports), ...wide };
    if (saysSomething(hint)) this.#onHint(hint);
    const isWaiting = this.#whole || wideKinds.some((kind) => this.#ids[kind].size > 0);
    if (isWaiting) void this.#handOnAfter('sparing', untilWide);
  }

  #takeWide(): WideHint {
    const { networks, projects, accounts } = this.#ids;
    const whole = this.#whole;
    this.#whole = false;
    return {
      networks: taken(networks),
      projects: taken(projects),
      accounts: taken(accounts),
      whole,
    };
  }
}

function saysSomething({ whole, ...ids }: WideHint): boolean {
  return whole || Object.values(ids).some((some) => some.length > 0);
}

function taken(set: Set<string>): string[] {
  const ids = [...set];
  set.clear();
  return ids;
}
