import type { Clock, Random } from '../time/clock.ts';
import type { About } from './about.ts';
import type { Health } from './health.ts';
import type { Logger } from './log.ts';
import type { Metrics, MetricTable } from './metrics.ts';

/** The Pod around this process. */
export interface OwnPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid?: string;
}

/** Context from main for every part: parts use no globals. */
export interface PartContext<T extends MetricTable> {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics<T>;
  readonly health: Health;
  readonly about: About;
  /** undefined: unknown, for example outside a cluster. */
  readonly pod?: OwnPod | undefined;
  /** Name of the process in leases: POD_NAME, else HOSTNAME; undefined: neither is set. */
  readonly processName?: string | undefined;
  /** True (default): the part verifies its required rights and kinds. */
  readonly selfCheck?: boolean;
  /** Ends the process at once, for failures that must not wait for an orderly stop. */
  readonly exit: (why: Error) => void;
}
