/** Repairs per field within `windowMs` before further repairs wait. */
const freeRepairs = 5;
const windowMs = 600_000;
const firstWaitMs = 10_000;
const longestWaitMs = 600_000;

interface FieldRepairs {
  /** Repair times, oldest first, at most `freeRepairs`. */
  readonly times: readonly number[];
  /** Number of delayed repairs since the field was last left alone. */
  readonly waits: number;
}

/**
 * Counts repairs by object and field: the sixth within ten minutes waits, and each further repair waits twice as long.
 */
export class RepairLedger {
  readonly #fields = new Map<string, FieldRepairs>();

  /** Returns milliseconds until these fields may be repaired; 0: now. */
  waitMs(object: string, paths: readonly string[], nowMs: number): number {
    return Math.max(0, ...paths.map((path) => this.#waitMs(keyOf(object, path), nowMs)));
  }

  /** Notes a repair. */
  note(object: string, paths: readonly string[], nowMs: number): void {
    for (const [key, repairs] of this.#fields) {
      if (isOver(repairs, nowMs)) this.#fields.delete(key);
    }
    for (const path of paths) {
      const key = keyOf(object, path);
      const before = this.#recent(key, nowMs);
      const waited = isFull(before, nowMs) ? 1 : 0;
      const times = [...before.times, nowMs].slice(-freeRepairs);
      this.#fields.set(key, { times, waits: before.waits + waited });
    }
  }

  #waitMs(key: string, nowMs: number): number {
    const repairs = this.#recent(key, nowMs);
    if (!isFull(repairs, nowMs)) return 0;
    return lastOf(repairs) + pauseMs(repairs) - nowMs;
  }

  #recent(key: string, nowMs: number): FieldRepairs {
    const found = this.#fields.get(key);
    return found && !isOver(found, nowMs) ? found : { times: [], waits: 0 };
  }
}

function keyOf(object: string, path: string): string {
  return `${object} ${path}`;
}

function isFull({ times, waits }: FieldRepairs, nowMs: number): boolean {
  const [oldest = nowMs] = times;
  return waits > 0 || (times.length === freeRepairs && nowMs - oldest < windowMs);
}

function pauseMs({ waits }: FieldRepairs): number {
  return Math.min(firstWaitMs * 2 ** waits, longestWaitMs);
}

/** True if no manager changed the field for ten minutes after a repair was possible. */
function isOver(repairs: FieldRepairs, nowMs: number): boolean {
  return nowMs - lastOf(repairs) >= pauseMs(repairs) + windowMs;
}

function lastOf({ times }: FieldRepairs): number {
  return times.at(-1) ?? 0;
}
