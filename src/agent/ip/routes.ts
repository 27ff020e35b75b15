import * as z from 'zod';
import { type Route, rt } from '../snapshot.ts';

const nexthop = z.looseObject({
  dev: z.string().optional(),
  gateway: z.string().optional(),
  /** Gateway in the other family (RFC 5549). */
  via: z.unknown().optional(),
});

/**
 * Entry in the output of `ip -N -j -d route show table all`, which lists both families. Further keys are kept, and make
 * a route opaque.
 */
const routeEntry = z.looseObject({
  type: z.coerce.number().default(1),
  dst: z.string(),
  gateway: z.string().optional(),
  dev: z.string().optional(),
  table: z.coerce.number().default(254),
  protocol: z.coerce.number().default(0),
  scope: z.coerce.number().default(0),
  prefsrc: z.string().optional(),
  metric: z.int().default(0),
  flags: z.array(z.string()).default([]),
  /** Router preference; present on every IPv6 route, absent on IPv4 routes. */
  pref: z.string().optional(),
  nexthops: z.array(nexthop).optional(),
  /**
   * Nexthop object id: with `net.ipv4.nexthop_compat_mode` 0 the kernel reports nothing more about the next hops
   * (ip-nexthop(8)).
   */
  nhid: z.int().optional(),
  /** Nexthop object details looked up by a newer `ip -d`; for a group only member ids. */
  nh_info: nexthop.optional(),
});

type Nexthop = Partial<z.infer<typeof nexthop>>;
type RouteEntry = z.infer<typeof routeEntry>;

const known = new Set(Object.keys(routeEntry.shape));
/** An encapsulation's far end is a second `dst` in the same object, which would replace the route's own. */
const tunnelEnd = /("encap":"ip6?"[^{}]*?)"dst":/g;
/** Flags depending only on the link's state. */
const transientFlags = new Set(['linkdown', 'dead', 'offload', 'trap', 'rt_offload', 'rt_trap']);

/**
 * Parses routes from `ip -N -j -d route show table all`, object by object. A BGP node has a hundred thousand routes:
 * common values are stored once.
 */
export class RouteReader {
  readonly routes: Route[] = [];
  readonly #texts = new Map<string, string>();
  readonly #lists = new Map<string, readonly string[]>();

  /** Throws on any other text. */
  add(text: string): void {
    const entry = routeEntry.parse(JSON.parse(text.replaceAll(tunnelEnd, '$1"tunnel-end":')));
    this.routes.push(toRoute(entry, this.#once, this.#listOnce));
  }

  readonly #once = (text: string) => {
    return this.#texts.get(text) ?? (this.#texts.set(text, text), text);
  };

  readonly #listOnce = (list: readonly string[]) => {
    const key = list.join(' ');
    return this.#lists.get(key) ?? (this.#lists.set(key, list), list);
  };
}

type Once<T> = (value: T) => T;

function toRoute(entry: RouteEntry, once: Once<string>, listOnce: Once<readonly string[]>): Route {
  const family = familyOf(entry);
  const links = linksOf(entry);
  const hidden = entry.nhid !== undefined && links.length === 0 && entry.type === rt.unicast;
  return {
    family,
    type: entry.type,
    to: network(entry.dst, family),
    ...(entry.gateway ? { via: once(entry.gateway) } : {}),
    ...(isBehindGateway(entry) ? { behindGateway: true as const } : {}),
    links: listOnce(links.map(once)),
    ...(hidden ? { anyLink: true as const } : {}),
    table: entry.table,
    protocol: entry.protocol,
    scope: entry.scope,
    ...(entry.prefsrc ? { src: once(entry.prefsrc) } : {}),
    metric: entry.metric,
    opaque: isOpaque(entry),
  };
}

function familyOf({ dst, pref, gateway }: RouteEntry): 4 | 6 {
  const six = dst.includes(':') || pref !== undefined || gateway?.includes(':') === true;
  return six ? 6 : 4;
}

function network(to: string, family: 4 | 6): string {
  if (to === 'default') return family === 4 ? '0.0.0.0/0' : '::/0';
  if (to.includes('/')) return to;
  return `${to}/${family === 4 ? 32 : 128}`;
}

function linksOf({ dev, nexthops = [], nh_info }: RouteEntry): string[] {
  const names = [dev ?? nh_info?.dev, ...nexthops.map((hop) => hop.dev)];
  return names.filter((name) => name !== undefined);
}

/** True if each next hop is a gateway; a `gateway` on the route itself appears in `via` instead. */
function isBehindGateway({ gateway, nexthops, nh_info, ...entry }: RouteEntry): boolean {
  if (gateway !== undefined) return false;
  const hops: readonly Nexthop[] = nexthops ?? [nh_info ?? { via: entry['via'] }];
  return hops.length > 0 && hops.every((hop) => (hop.gateway ?? hop.via) !== undefined);
}

function isOpaque(entry: RouteEntry): boolean {
  const more = Object.keys(entry).some((key) => !known.has(key));
  const flags = entry.flags.some((flag) => !transientFlags.has(flag));
  const preferred = entry.pref !== undefined && entry.pref !== 'medium';
  return more || flags || preferred || entry.nexthops !== undefined || entry.nhid !== undefined;
}
