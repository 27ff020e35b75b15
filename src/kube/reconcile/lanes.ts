/** Maximum concurrent keys per lane. */
export interface LaneLimit {
  readonly of: (key: string) => readonly string[];
  readonly most: number;
  /**
   * Extra slots for keys finishing within a time: keys stuck in one lane must not fill the other lanes. A slower key
   * loses its extra slot while still running. A key slow twice in a row counts as slow from the start.
   */
  readonly quick?: { readonly more: number; readonly withinMs: number };
}

/** Occupied lane slots. Times are monotonic milliseconds. */
export class Lanes {
  readonly #limit: LaneLimit | undefined;
  /** Keys per lane, with their start times. */
  readonly #lanes = new Map<string, Map<string, number>>();
  readonly #inside = new Map<string, readonly string[]>();
  /** Consecutive slow runs per key. */
  readonly #slow = new Map<string, number>();

  constructor(limit: LaneLimit | undefined) {
    this.#limit = limit;
  }

  /** Occupies a slot in every lane of the key, or in none if a lane is full. */
  enter(key: string, now: number): boolean {
    if (!this.#limit) return true;
    const lanes = this.#limit.of(key);
    if (!lanes.every((lane) => this.#hasRoom(lane, key, now))) return false;
    for (const lane of lanes) {
      const inside = this.#lanes.get(lane) ?? new Map<string, number>();
      this.#lanes.set(lane, inside.set(key, now));
    }
    this.#inside.set(key, lanes);
    return true;
  }

  /** Frees the occupied slots, even if the key's lanes have changed meanwhile. */
  leave(key: string, tookMs: number): void {
    const { quick } = this.#limit ?? {};
    if (quick && tookMs > quick.withinMs) this.#slow.set(key, (this.#slow.get(key) ?? 0) + 1);
    else this.#slow.delete(key);
    for (const lane of this.#inside.get(key) ?? []) {
      const inside = this.#lanes.get(lane);
      inside?.delete(key);
      if (inside?.size === 0) this.#lanes.delete(lane);
    }
    this.#inside.delete(key);
  }

  #hasRoom(lane: string, key: string, now: number): boolean {
    const { most = 0, quick } = this.#limit ?? {};
    const inside = [...(this.#lanes.get(lane) ?? [])];
    if (!quick || this.#isSlow(key)) return inside.length < most;
    const hurrying = inside.filter(
      ([one, since]) => !this.#isSlow(one) && now - since < quick.withinMs,
    );
    return hurrying.length < most + quick.more;
  }

  /** A single slow run may be a busy day. */
  #isSlow(key: string): boolean {
    return (this.#slow.get(key) ?? 0) > 1;
  }
}
