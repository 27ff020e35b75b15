/** How many keys of one lane may be worked on at once. */
export interface LaneLimit {
  readonly of: (key: string) => readonly string[];
  readonly most: number;
  /**
   * So many more of them when they are done within a time: keys that are stuck in one of their lanes do not fill up the
   * others for everybody. One that takes longer gives up such a place while it is still worked on; twice in a row, and it is
   * counted with the slow ones the next time.
   */
  readonly quick?: { readonly more: number; readonly withinMs: number };
}

/** The lanes that keys which are worked on stand in. Times are monotonic milliseconds. */
export class Lanes {
  readonly #limit: LaneLimit | undefined;
  /** Of each lane the keys inside, and since when. */
  readonly #lanes = new Map<string, Map<string, number>>();
  readonly #inside = new Map<string, readonly string[]>();
  /** How many times in a row a key took longer. */
  readonly #slow = new Map<string, number>();

  constructor(limit: LaneLimit | undefined) {
    this.#limit = limit;
  }

  /** Takes a place in every lane of the key, or in none when one of them is full. */
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

  /** Gives back the places that were taken; what the key's lanes are called now does not matter. */
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

  /** Once may be a day on which there was much to do. */
  #isSlow(key: string): boolean {
    return (this.#slow.get(key) ?? 0) > 1;
  }
}
