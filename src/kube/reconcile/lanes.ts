/** How many keys of one lane may be worked on at once. */
export interface LaneLimit {
  readonly of: (key: string) => readonly string[];
  readonly most: number;
  /**
   * So many more of them when they are done within a time: keys that are stuck in one of their lanes do not fill up the
   * others for everybody. One that takes longer gives up such a place while it is still worked on, and is counted with the
   * slow ones the next time.
   */
  readonly quick?: { readonly more: number; readonly withinMs: number };
}

/** The lanes that keys which are worked on stand in. Times are monotonic milliseconds. */
export class Lanes {
  readonly #limit: LaneLimit | undefined;
  /** Of each lane the keys inside, and since when. */
  readonly #lanes = new Map<string, Map<string, number>>();
  readonly #inside = new Map<string, readonly string[]>();
  readonly #slow = new Set<string>();

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
    if (quick && tookMs > quick.withinMs) this.#slow.add(key);
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
    if (!quick || this.#slow.has(key)) return inside.length < most;
    const hurrying = inside.filter(([one, since]) => !this.#isSlow(one, now - since));
    return hurrying.length < most + quick.more;
  }

  #isSlow(key: string, forMs: number): boolean {
    return this.#slow.has(key) || forMs >= (this.#limit?.quick?.withinMs ?? Infinity);
  }
}
