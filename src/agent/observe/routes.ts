import * as z from 'zod';
import { type Route, rt } from '../snapshot.ts';

const nexthop = z.looseObject({
  dev: z.string().optional(),
  gateway: z.string().optional(),
  /** A gateway of the other family (RFC 5549). */
  via: z.unknown().optional(),
});

/** One entry of `ip -N -j -d route show table all`, which lists both families; keys beyond these are kept and make a route opaque. */
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
  /** Router preference; every IPv6 route has one, no IPv4 route has. */
  pref: z.string().optional(),
  nexthops: z.array(nexthop).optional(),
  /** Id of a nexthop object: with `net.ipv4.nexthop_compat_mode` 0 all that the kernel tells of the way (ip-nexthop(8)). */
  nhid: z.int().optional(),
  /** What a newer `ip -d` looks up of that object; of a group it knows the members' ids alone. */
  nh_info: nexthop.optional(),
});

type Nexthop = Partial<z.infer<typeof nexthop>>;
type RouteEntry = z.infer<typeof routeEntry>;

const known = new Set(Object.keys(routeEntry.shape));
/** The far end of an encapsulation is one more `dst` in the same object, which would win over the route's own. */
const tunnelEnd = /("encap":"ip6?"[^{}]*?)"dst":/g;
/** What the state of the link alone decides. */
const transientFlags = new Set(['linkdown', 'dead', 'offload', 'trap', 'rt_offload', 'rt_trap']);

/**
 * Routes of `ip -N -j -d route show table all`; throws on any other text. A node that speaks BGP has a hundred thousand of
 * them: each is read by itself, and what many have in common is kept once.
 */
export function parseRoutes(json: string): Route[] {
  const shared = new Map<string, string>();
  const once = (text: string) => shared.get(text) ?? (shared.set(text, text), text);
  const lists = new Map<string, readonly string[]>();
  const listOnce = (list: readonly string[]) => {
    const key = list.join(' ');
    return lists.get(key) ?? (lists.set(key, list), list);
  };
  const routes: Route[] = [];
  for (const text of elementsOf(json)) {
    const entry = routeEntry.parse(JSON.parse(text.replaceAll(tunnelEnd, '$1"tunnel-end":')));
    routes.push(toRoute(entry, once, listOnce));
  }
  return routes;
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

/** Whether each next hop is a gateway; a `gateway` of the route itself is its `via`. */
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

const [quote, backslash, open, close] = ['"', '\\', '{', '}'].map((each) => each.charCodeAt(0));

/** The texts of the objects in a JSON array, one after the other; throws when the text is no array of objects. */
export function* elementsOf(json: string): Generator<string> {
  let depth = 0;
  let start = 0;
  let end = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfString(json, at);
    else if (code === open && depth++ === 0) {
      expectBetween(json.slice(end, at), end === 0 ? '[' : ',');
      start = at;
    } else if (code === close && --depth === 0) {
      end = at + 1;
      yield json.slice(start, end);
    }
  }
  expectBetween(json.slice(end), end === 0 ? '[]' : ']');
}

/** Where the string ends that begins here. */
function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json.charCodeAt(at) !== quote) {
    at += json.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at;
}

function expectBetween(text: string, wanted: string): void {
  if (text.replaceAll(/\s/g, '') === wanted) return;
  throw new SyntaxError(`not an array of objects: ${JSON.stringify(text.slice(0, 80))}`);
}
