/** How many keys of one lane may be worked on at once. */
export interface LaneLimit {
  readonly of: (key: string) => readonly string[];
  readonly most: number;
  /**
   * So many more of them when they were done within a time when they were worked on last: keys that are stuck in one of
   * their lanes do not fill up the others for everybody.
   */
  readonly quick?: { readonly more: number; readonly withinMs: number };
}

/** The lanes that keys which are worked on stand in. */
export class Lanes {
  readonly #limit: LaneLimit | undefined;
  readonly #counts = new Map<string, number>();
  readonly #inside = new Map<string, readonly string[]>();
  readonly #slow = new Set<string>();

  constructor(limit: LaneLimit | undefined) {
    this.#limit = limit;
  }

  /** Takes a place in every lane of the key, or in none when one of them is full. */
  enter(key: string): boolean {
    if (!this.#limit) return true;
    const { of, most, quick } = this.#limit;
    const places = most + (quick && !this.#slow.has(key) ? quick.more : 0);
    const lanes = of(key);
    if (lanes.some((lane) => (this.#counts.get(lane) ?? 0) >= places)) return false;
    for (const lane of lanes) this.#counts.set(lane, (this.#counts.get(lane) ?? 0) + 1);
    this.#inside.set(key, lanes);
    return true;
  }

  /** Gives back the places that were taken; what the key's lanes are called now does not matter. */
  leave(key: string, tookMs: number): void {
    const { quick } = this.#limit ?? {};
    if (quick && tookMs > quick.withinMs) this.#slow.add(key);
    else this.#slow.delete(key);
    for (const lane of this.#inside.get(key) ?? []) {
      const left = (this.#counts.get(lane) ?? 0) - 1;
      if (left > 0) this.#counts.set(lane, left);
      else this.#counts.delete(lane);
    }
    this.#inside.delete(key);
  }
}
