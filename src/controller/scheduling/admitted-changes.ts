import type { Node } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';

/** A revision that a change belongs to. */
export interface WantedRevision {
  readonly revision: string;
  /** Changed setting in messages; undefined: source and image. */
  readonly name?: string;
}

/** A run that changes existing NICs. */
export interface Change {
  /** Object key, woken when the run may start. */
  readonly key: string;
  readonly node: Node;
  readonly revisions: readonly WantedRevision[];
}

interface Admitted extends Change {
  /** End of a reservation on the monotonic clock; undefined while the run is starting. */
  readonly until: number | undefined;
}

/** A change waiting for a slot retries every 30 s; without retries its reservation expires. */
const reservationMs = 90_000;

/** Changes with a share of the rollout budget, whose run has not started yet. */
export class AdmittedChanges {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #byKey = new Map<string, Admitted>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  start(change: Change): void {
    this.#byKey.set(change.key, { ...change, until: undefined });
  }

  reserve(change: Change): void {
    this.#byKey.set(change.key, { ...change, until: this.#clock.monotonicMs() + reservationMs });
  }

  delete(key: string): void {
    this.#byKey.delete(key);
  }

  /** Returns the revisions of an object's change; empty: none is admitted. */
  revisionsOf(key: string): readonly string[] {
    return this.#byKey.get(key)?.revisions.map(({ revision }) => revision) ?? [];
  }

  /** Returns the changes whose run is starting. */
  starting(): readonly Change[] {
    return [...this.#byKey.values()].filter(({ until }) => until === undefined);
  }

  /** Returns the changes to a revision that start or have a valid reservation. */
  to(revision: string): readonly Change[] {
    const now = this.#clock.monotonicMs();
    return [...this.#byKey.values()].filter(
      ({ revisions, until }) =>
        (until === undefined || until > now) && revisions.some((one) => one.revision === revision),
    );
  }
}
