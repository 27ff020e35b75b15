import type { Port } from '../../openstack/resources.ts';
import type { Clock } from '../../time/clock.ts';

type Known = Pick<Port, 'id' | 'status' | 'revisionNumber'>;

interface Change {
  /** Monotonic ms. */
  readonly at: number;
  readonly port: Port;
}

/** Longer than a database behind Neutron stays behind another one. */
const rememberedMs = 60_000;
/** Nova writes down a port that it attaches within this; less than it is asked again in (doubts.ts). */
const settlingMs = 5_000;

/**
 * Ports as they were seen to change lately. Several databases may answer for Neutron, and one of them may know less than
 * another one that answered before: a port never goes back to an earlier revision.
 */
export class RecentPorts {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** In the order of their changes. */
  readonly #changes = new Map<string, Change>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The port as it is known by now: as it was read, or as it was in a later revision. */
  latest(port: Port): Port {
    const known = this.#changes.get(port.id)?.port;
    return known && isOlder(port, known) ? known : port;
  }

  /** The port was read; `before` is what was known of it where it is now. */
  note(port: Port, before: Known | undefined): void {
    if (before && !isOlder(before, port)) return;
    const at = this.#clock.monotonicMs();
    for (const [id, change] of this.#changes) {
      if (at - change.at < rememberedMs) break;
      this.#changes.delete(id);
    }
    this.#changes.delete(port.id);
    this.#changes.set(port.id, { at, port });
  }

  /** Whether Nova may not have written the port down yet: it came a moment ago, and was not plugged in when it was seen. */
  isSettling(portId: string): boolean {
    const change = this.#changes.get(portId);
    if (!change || change.port.status === 'ACTIVE') return false;
    return this.#clock.monotonicMs() - change.at < settlingMs;
  }
}

function isOlder(port: Known, than: Known): boolean {
  return port.revisionNumber < than.revisionNumber;
}
