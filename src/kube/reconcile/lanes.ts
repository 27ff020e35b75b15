/** How many keys of one lane may be worked on at once. */
export interface LaneLimit {
  readonly of: (key: string) => readonly string[];
  readonly most: number;
}

/** The lanes that keys which are worked on stand in. */
export class Lanes {
  readonly #limit: LaneLimit | undefined;
  readonly #counts = new Map<string, number>();
  readonly #inside = new Map<string, readonly string[]>();

  constructor(limit: LaneLimit | undefined) {
    this.#limit = limit;
  }

  /** Takes a place in every lane of the key, or in none when one of them is full. */
  enter(key: string): boolean {
    if (!this.#limit) return true;
    const { of, most } = this.#limit;
    const lanes = of(key);
    if (lanes.some((lane) => (this.#counts.get(lane) ?? 0) >= most)) return false;
    for (const lane of lanes) this.#counts.set(lane, (this.#counts.get(lane) ?? 0) + 1);
    this.#inside.set(key, lanes);
    return true;
  }

  /** Gives back the places that were taken; what the key's lanes are called now does not matter. */
  leave(key: string): void {
    for (const lane of this.#inside.get(key) ?? []) {
      const left = (this.#counts.get(lane) ?? 0) - 1;
      if (left > 0) this.#counts.set(lane, left);
      else this.#counts.delete(lane);
    }
    this.#inside.delete(key);
  }
}
