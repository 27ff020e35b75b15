import * as z from 'zod';
import type { Route } from '../host.ts';
import { elementsOf } from './json-elements.ts';

const nexthop = z.looseObject({ dev: z.string().optional() });

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
});

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
  const routes: Route[] = [];
  for (const text of elementsOf(json)) {
    const entry = routeEntry.parse(JSON.parse(text.replaceAll(tunnelEnd, '$1"tunnel-end":')));
    routes.push(toRoute(entry, once));
  }
  return routes;
}

function toRoute(entry: RouteEntry, once: (text: string) => string): Route {
  const family = familyOf(entry);
  return {
    family,
    type: entry.type,
    to: network(entry.dst, family),
    ...(entry.gateway ? { via: once(entry.gateway) } : {}),
    links: linksOf(entry).map(once),
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

function linksOf({ dev, nexthops = [] }: RouteEntry): string[] {
  const names = [dev, ...nexthops.map((hop) => hop.dev)];
  return names.filter((name) => name !== undefined);
}

function isOpaque(entry: RouteEntry): boolean {
  const more = Object.keys(entry).some((key) => !known.has(key));
  const flags = entry.flags.some((flag) => !transientFlags.has(flag));
  return more || flags || entry.nexthops !== undefined;
}
