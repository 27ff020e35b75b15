const censored = '[redacted]';

/** Keys of secret values; names and paths of secrets are no secrets. */
const secretKey =
  /(password|passwd|passphrase|admin_?pass|_pass$|secret|token|encryptkey|encryption_?key|private_?key|rabbit|authorization|cookie|credential|kubeconfig|last-applied-configuration|client-key|api_?key)/i;
const harmlessKey =
  /(name|names|ref|refs|file|path|since|valid|usable|namespaces?|lifetime|type|count|total)$/i;

/** Words that end the key of a secret value: OS_PASSWORD, access_token, clientSecret. */
const secretWord =
  '(?:password|passwd|passphrase|admin_?pass|_pass|secret|token|(?:api|access|encrypt|encryption|private)_?key)';
/** Key and separator on one line, with limits against slow searches; JSON inside a JSON string has backslashes. */
const assigned = String.raw`(?<=${secretWord}\\{0,8}["']?[^\S\n]{0,8}[=:][^\S\n]{0,8}`;

const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\b(?:authorization|(?:set-)?cookie)\\{0,8}["']?[^\S\n]{0,8}[=:][^\S\n]{0,8}\\{0,8}["']?)[^\s"'\\][^"'\\\n]*/gi,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /\bgAAAAA[\w=-]{20,}/g,
  // Up to the last @: passwords in URLs may contain @, and / after a user.
  /(?<=:\/\/)(?:[^\s"'/]{1,512}|[^\s"'/@:]{0,256}:(?!\d+\/)[^\s"'@]{1,512})(?=@)/g,
  new RegExp(String.raw`${assigned}")(?:[^"\\\n]|\\.)+(?=")`, 'gi'),
  new RegExp(String.raw`${assigned}')[^'\n]+(?=')`, 'gi'),
  new RegExp(String.raw`${assigned}(\\{1,8}["']))(?!\1).+?(?=\1)`, 'gi'),
  new RegExp(String.raw`${assigned})[^\s"'\\[]+`, 'gi'),
  new RegExp(String.raw`(?<=--[\w-]*(?:password|secret|token) )[^\s"'-][^\s"']*`, 'g'),
];

/** Replaces secret values, and counts them. */
export class Redactor {
  readonly byKey = new Map<string, number>();
  byPattern = 0;
  readonly #values = new Set<string>();

  /** Returns a copy without the values of secret keys; the values are replaced in later texts, too. */
  object(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.object(each));
    if (typeof value !== 'object' || value === null) return value;
    const named = 'name' in value && typeof value.name === 'string' ? value.name : '';
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        // An environment variable: {name: DB_PASSWORD, value: …}.
        const about = key === 'value' && named !== '' ? named : key;
        return [key, isSecret(about, each) ? this.#censor(about, each) : this.object(each)];
      }),
    );
  }

  #censor(key: string, value: unknown): string {
    const word = secretKey.exec(key)?.[1]?.toLowerCase() ?? key;
    this.byKey.set(word, (this.byKey.get(word) ?? 0) + 1);
    for (const text of textsIn(value)) {
      // A text file has the value as it is, or as part of a JSON string.
      if (text.length >= 6) this.#values.add(text).add(JSON.stringify(text).slice(1, -1));
    }
    return censored;
  }

  /** Returns text without known secret values and without what looks like one. */
  text(text: string): string {
    let result = text;
    // Longer values first: one value may be the beginning of another.
    const values = [...this.#values].toSorted((a, b) => b.length - a.length);
    for (const value of values) result = this.#replaced(result, value);
    for (const pattern of patterns) result = this.#replaced(result, pattern);
    return result;
  }

  #replaced(text: string, what: string | RegExp): string {
    return text.replaceAll(what, (found) => {
      if (found === censored) return found;
      this.byPattern += 1;
      return censored;
    });
  }

  get total(): number {
    return this.byPattern + [...this.byKey.values()].reduce((sum, count) => sum + count, 0);
  }
}

function isSecret(key: string, value: unknown): boolean {
  if (value === null || value === '' || typeof value === 'boolean' || typeof value === 'number') {
    return false;
  }
  if (!secretKey.test(key) || harmlessKey.test(key)) return false;
  // An object such as `credentials` or `secretRef` is examined key by key.
  return typeof value === 'string' || isTexts(value);
}

function isTexts(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')
  );
}

function textsIn(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
}
