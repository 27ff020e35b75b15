const ipv4 =
  /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]\d)/g;
const ipv6 =
  /(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?::|[0-9a-f]{1,4}|(?::[0-9a-f]{1,4}){1,6})(?![\w:])/gi;
const mac = /(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])/gi;
const uuid = /(?<!\w)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)/gi;

/** Replaces addresses, ids and names by tokens: the same token for the same value, in all files. */
export class Tokens {
  readonly #tokens = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #names: readonly string[];

  /** Longer names first: worker-1 is part of worker-18. */
  constructor(names: Iterable<string>) {
    const usable = [...new Set(names)].filter((name) => name.length >= 3);
    this.#names = usable.toSorted((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let result = text
      .replaceAll(mac, (found) => this.#token('mac', found))
      .replaceAll(uuid, (found) => this.#token('id', found))
      .replaceAll(ipv4, (found) => this.#token('ip', found))
      .replaceAll(ipv6, (found) => this.#token('ip', found));
    for (const name of this.#names) {
      if (result.includes(name))
        result = result.replaceAll(wordOf(name), this.#token('name', name));
    }
    return result;
  }

  #token(kind: string, value: string): string {
    const key = value.toLowerCase();
    const existing = this.#tokens.get(key);
    if (existing !== undefined) return existing;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const token = `${kind}-${count}`;
    this.#tokens.set(key, token);
    return token;
  }
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\w])${name.replaceAll(/[^\w]/g, '\\$&')}(?![\\w])`, 'g');
}
