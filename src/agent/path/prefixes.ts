import { familyOf, hostPrefix, ipOf, networkAt } from '../../api/address.ts';
import type { Route } from '../snapshot.ts';

/** Route with the network as numbers: a node may have 100,000 routes, and each destination is compared with all. */
interface Entry {
  readonly first: bigint;
  readonly last: bigint;
  readonly prefix: number;
  readonly route: Route;
}

/** Returns the address as a number. */
export function numberOf(ip: string): bigint {
  if (!ip.includes(':')) {
    return ip.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  }
  const [head = '', tail] = withoutDots(ip).split('::');
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const gap = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...gap, ...back].reduce(
    (sum, group) => sum * 65_536n + BigInt(`0x${group}`),
    0n,
  );
}

function groups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

/** Replaces the dotted end in `::ffff:10.0.0.1` by two groups. */
function withoutDots(ip: string): string {
  return ip.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
}

/** Returns the address behind a number. */
export function textOfNumber(value: bigint, family: 4 | 6): string {
  return ipOf(networkAt(family, value, hostPrefix(family)));
}

/** Returns the first and last address in `ip/prefix`, as numbers. */
export function rangeOf(cidr: string): { first: bigint; last: bigint; prefix: number } {
  const [ip = '', length] = cidr.split('/');
  const width = hostPrefix(familyOf(ip));
  const prefix = length === undefined ? width : Number(length);
  const host = BigInt(width - prefix);
  const first = (numberOf(ip) >> host) << host;
  return { first, last: first + (1n << host) - 1n, prefix };
}

/** Longest-prefix matching over the routes in a snapshot; families are parsed when needed. */
export class Prefixes {
  readonly #routes: readonly Route[];
  readonly #parsed = new Map<4 | 6, readonly Entry[]>();

  constructor(routes: readonly Route[]) {
    this.#routes = routes;
  }

  /** Returns routes to networks with this address, in any table. */
  covering(ip: string): readonly { readonly prefix: number; readonly route: Route }[] {
    const family = ip.includes(':') ? 6 : 4;
    const value = numberOf(ip);
    return this.#entries(family).filter(({ first, last }) => first <= value && value <= last);
  }

  /** Returns the table's best route to the address: longest prefix, then lowest metric. */
  best(table: number, ip: string): { readonly prefix: number; readonly route: Route } | undefined {
    return this.covering(ip)
      .filter(({ route }) => route.table === table)
      .toSorted((a, b) => b.prefix - a.prefix || a.route.metric - b.route.metric)[0];
  }

  #entries(family: 4 | 6): readonly Entry[] {
    const known = this.#parsed.get(family);
    if (known) return known;
    const entries = this.#routes
      .filter((route) => route.family === family)
      .map((route) => ({ ...rangeOf(route.to), route }));
    this.#parsed.set(family, entries);
    return entries;
  }
}
