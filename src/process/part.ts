import type { Clock, Random } from '../time/clock.ts';
import type { About } from './about.ts';
import type { Health } from './health.ts';
import type { Logger } from './log.ts';
import type { Metrics, MetricTable } from './metrics.ts';

/** The Pod that a process runs in. */
export interface OwnPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid?: string;
}

/** What every part is given by main: nothing in a part is global. */
export interface PartContext<T extends MetricTable> {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics<T>;
  readonly health: Health;
  readonly about: About;
  /** Missing: it is not known, as outside of a cluster. */
  readonly pod?: OwnPod | undefined;
  /** Name of the process in leases: POD_NAME, else HOSTNAME; undefined: neither is set. */
  readonly processName?: string | undefined;
  /** Whether the part makes sure that it has the rights and kinds that it needs (default: it does). */
  readonly selfCheck?: boolean;
  /** Ends the process at once; for what must not wait for an end in order. */
  readonly exit: (why: Error) => void;
}
