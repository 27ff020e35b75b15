import type { Port } from '../../../openstack/resources.ts';
import type { Clock } from '../../../time/clock.ts';

type Known = Pick<Port, 'id' | 'status' | 'revisionNumber'>;

interface Change {
  /** Monotonic ms. */
  readonly at: number;
  readonly port: Port;
}

/** Longer than any Neutron database replica lags behind. */
const rememberedMs = 60_000;
/** Nova records an attached port within this time; shorter than the retry delay in unconfirmed-removals.ts. */
const settlingMs = 5_000;

/**
 * Recently changed ports. Several databases may answer for Neutron, and a replica may lag behind an earlier
 * answer: a port never returns to an older revision.
 */
export class RecentPorts {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Ordered by change time. */
  readonly #changes = new Map<string, Change>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns the latest known revision: the port as read, or a later cached revision. */
  latest(port: Port): Port {
    const known = this.#changes.get(port.id);
    if (!known || this.#clock.monotonicMs() - known.at >= rememberedMs) return port;
    return isOlder(port, known.port) ? known.port : port;
  }

  /** Records a port read; `before` is the previously known port on the same server. */
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

  /**
   * Returns whether Nova may not have recorded the port yet: the port appeared less than 5 s ago, and was not
   * ACTIVE.
   */
  isSettling(portId: string): boolean {
    const change = this.#changes.get(portId);
    if (!change || change.port.status === 'ACTIVE') return false;
    return this.#clock.monotonicMs() - change.at < settlingMs;
  }
}

function isOlder(port: Known, than: Known): boolean {
  return port.revisionNumber < than.revisionNumber;
}
