/** Shortest name to search for: shorter ones are parts of usual words. */
const shortest = 3;
const word = /\w/;

/**
 * Search for thousands of names in a text. A pass over the text per name would block for minutes with 5,000 nodes; this
 * search has a single pass.
 */
export class NameSearch {
  readonly #names: ReadonlySet<string>;
  /** Lengths of names by their first characters, the longest first: worker-1 is part of worker-18. */
  readonly #lengths = new Map<string, number[]>();
  readonly #starts: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.#names = new Set([...names].filter((name) => name.length >= shortest));
    for (const name of this.#names) {
      const start = name.slice(0, shortest);
      const lengths = new Set(this.#lengths.get(start)).add(name.length);
      this.#lengths.set(
        start,
        [...lengths].toSorted((a, b) => b - a),
      );
    }
    this.#starts = new Set([...this.#names].map((name) => name.charAt(0)));
  }

  /** Returns the text with each name replaced, if no word character stands beside. */
  replaced(text: string, replacement: (name: string) => string): string {
    const parts: string[] = [];
    let end = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (!this.#starts.has(text.charAt(at))) continue;
      const name = this.#nameAt(text, at);
      if (name === undefined) continue;
      parts.push(text.slice(end, at), replacement(name));
      end = at + name.length;
      at = end - 1;
    }
    return parts.join('') + text.slice(end);
  }

  #nameAt(text: string, at: number): string | undefined {
    if (word.test(text.charAt(at - 1))) return undefined;
    const lengths = this.#lengths.get(text.slice(at, at + shortest)) ?? [];
    const found = lengths.find(
      (length) =>
        !word.test(text.charAt(at + length)) && this.#names.has(text.slice(at, at + length)),
    );
    return found === undefined ? undefined : text.slice(at, at + found);
  }
}
