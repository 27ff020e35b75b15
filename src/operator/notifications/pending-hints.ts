import type { Clock } from '../../time/clock.ts';
import { passed } from '../../time/clock.ts';
import type { Hint } from '../hints.ts';

/** What an attach causes comes in pieces, about as far apart. */
export const gatheredMs = 300;
/** A look at everything costs OpenStack so much more that a busy cloud must not ask for one all the time. */
export const wholeEveryMs = 10_000;
/** More than this is cheaper looked at as a whole. */
export const mostRemembered = 1_000;

/** What is waited for: the rest of a change, or leave to look at everything again. */
type Timer = 'gathering' | 'sparing';

/** Gathers hints, and hands them on together. */
export class PendingHints {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onHint: (hint: Hint) => void;
  readonly #servers = new Set<string>();
  readonly #ports = new Set<string>();
  readonly #networks = new Set<string>();
  readonly #projects = new Set<string>();
  #whole = false;
  readonly #timers = new Set<Timer>();
  #wholeAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, signal: AbortSignal, onHint: (hint: Hint) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onHint = onHint;
  }

  add({ servers, ports, networks, projects, whole }: Hint): void {
    for (const id of servers) this.#servers.add(id);
    for (const id of ports) this.#ports.add(id);
    for (const id of networks) this.#networks.add(id);
    for (const id of projects) this.#projects.add(id);
    this.#whole ||= whole;
    const sets = [this.#servers, this.#ports, this.#networks, this.#projects];
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
    const untilWhole = this.#wholeAt + wholeEveryMs - now;
    const isSpared = untilWhole <= 0;
    const whole = this.#whole && isSpared;
    const networks = isSpared ? taken(this.#networks) : [];
    const projects = isSpared ? taken(this.#projects) : [];
    const servers = taken(this.#servers);
    const ports = taken(this.#ports);
    if (whole) this.#whole = false;
    if (whole || networks.length + projects.length > 0) this.#wholeAt = now;
    const hint = { servers, ports, networks, projects, whole };
    if (saysSomething(hint)) this.#onHint(hint);
    const isWaiting = this.#whole || this.#networks.size + this.#projects.size > 0;
    if (isWaiting) void this.#handOnAfter('sparing', untilWhole);
  }
}

function saysSomething({ servers, ports, networks, projects, whole }: Hint): boolean {
  return whole || servers.length + ports.length + networks.length + projects.length > 0;
}

function taken(set: Set<string>): string[] {
  const ids = [...set];
  set.clear();
  return ids;
}
