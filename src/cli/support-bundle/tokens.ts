import { isIPv6, plainForm } from '../../api/address.ts';
import { NameSearch } from './name-search.ts';

const ipv4 =
  /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]\d)/g;
/** Text that may be an IPv6 address; times such as 05:20:11 are none. */
const colons = /(?<![\w:.])[0-9a-f]{0,4}:[0-9a-f:]{0,39}:[0-9a-f:.]{0,20}(?<!\.)(?![\w:])/gi;
const mac = /(?<![\w:-])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:-])/gi;
const macWithDashes = /(?<![\w:-])(?:[0-9a-f]{2}-){5}[0-9a-f]{2}(?![\w:-])/gi;
/** Link name by MAC, such as enxfa163e000077. */
const macInLinkName = /(?<=\benx)[0-9a-f]{12}(?!\w)/gi;
/** With dashes, or without as in Keystone's ids. */
const uuid = /(?<!\w)[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}(?!\w)/gi;
/** Host of a URL outside the cluster. */
const host = /(?<=:\/\/)(?![\w.-]*\.svc\b|localhost\b|\d)[\w-]+(?:\.[\w-]+)+/g;

/** Replaces addresses, ids and names by tokens: the same token for the same value, in all files. */
export class Tokens {
  readonly #tokens = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #names: NameSearch;

  constructor(names: Iterable<string>) {
    this.#names = new NameSearch(names);
  }

  text(text: string): string {
    const result = text
      .replaceAll(mac, (found) => this.#token('mac', found))
      .replaceAll(macWithDashes, (found) => this.#token('mac', found.replaceAll('-', ':')))
      .replaceAll(macInLinkName, (found) => this.#token('mac', withColons(found)))
      .replaceAll(uuid, (found) => this.#token('id', found.replaceAll('-', '')))
      .replaceAll(colons, (found) => this.#ipv6(found))
      .replaceAll(ipv4, (found) => this.#token('ip', found))
      .replaceAll(host, (found) => this.#token('host', found));
    return this.#names.replaced(result, (name) => this.#token('name', name));
  }

  /** A colon may follow the address, as in "fd00::5: connection refused". */
  #ipv6(found: string): string {
    const address = isIPv6(found) ? found : found.replace(/:$/, '');
    const isToken = isIPv6(address) && !/^::1?$/.test(address);
    return isToken ? this.#token('ip', plainForm(address)) + found.slice(address.length) : found;
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

function withColons(digits: string): string {
  return digits.replaceAll(/..(?=.)/g, '$&:');
}
