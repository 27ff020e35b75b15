import type { Happening as CloudEvent } from '../../../openstack/notifications/envelope.ts';
import type { Clock } from '../../../time/clock.ts';
import { passed } from '../../../time/clock.ts';

/** An attach causes several messages within about this time (ms). */
export const gatheredMs = 300;
/**
 * Shortest time (ms) between events that start a sync of all servers: such a sync costs OpenStack much more than a sync
 * of few servers.
 */
export const wholeEveryMs = 10_000;
/** Above this number of ids, a sync of all servers is cheaper. */
export const mostRemembered = 1_000;

/** Kinds of ids that may concern any server. */
const wideKinds = ['networks', 'projects', 'accounts'] as const;
const kinds = ['servers', 'ports', ...wideKinds] as const;
type WideEvent = Omit<CloudEvent, 'servers' | 'ports'>;
const nothingWide: WideEvent = { networks: [], projects: [], accounts: [], whole: false };

/** `gathering`: waits for the change's further messages. `sparing`: waits until `wholeEveryMs` has passed. */
type Timer = 'gathering' | 'sparing';

/** Merges a broker's cloud events and passes the events on together. */
export class PendingEvents {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onEvent: (event: CloudEvent) => void;
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

  constructor(clock: Clock, signal: AbortSignal, onEvent: (event: CloudEvent) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onEvent = onEvent;
  }

  add({ whole, ...ids }: CloudEvent): void {
    const sets = Object.values(this.#ids);
    for (const kind of kinds) for (const id of ids[kind]) this.#ids[kind].add(id);
    this.#whole ||= whole;
    if (sets.reduce((sum, { size }) => sum + size, 0) > mostRemembered) {
      for (const set of sets) set.clear();
      this.#whole = true;
    }
    void this.#passOnAfter('gathering', gatheredMs);
  }

  async #passOnAfter(timer: Timer, ms: number): Promise<void> {
    if (this.#timers.has(timer)) return;
    this.#timers.add(timer);
    const isDue = await passed(this.#clock, ms, this.#signal);
    this.#timers.delete(timer);
    if (isDue) this.#passOn();
  }

  #passOn(): void {
    const now = this.#clock.monotonicMs();
    const untilWide = this.#wideAt + wholeEveryMs - now;
    const wide = untilWide <= 0 ? this.#takeWide() : nothingWide;
    if (isNotEmpty(wide)) this.#wideAt = now;
    const { servers, ports } = this.#ids;
    const event = { servers: taken(servers), ports: taken(ports), ...wide };
    if (isNotEmpty(event)) this.#onEvent(event);
    const isWaiting = this.#whole || wideKinds.some((kind) => this.#ids[kind].size > 0);
    if (isWaiting) void this.#passOnAfter('sparing', untilWide);
  }

  #takeWide(): WideEvent {
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

function isNotEmpty({ whole, ...ids }: WideEvent): boolean {
  return whole || Object.values(ids).some((some) => some.length > 0);
}

function taken(set: Set<string>): string[] {
  const ids = [...set];
  set.clear();
  return ids;
}
