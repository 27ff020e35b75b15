import * as z from 'zod';
import { familyOf, hostPrefix, ipOf, networkOf, prefixOf } from '../../api/address.ts';
import {
  type Address,
  isKernelMade,
  type KernelSnapshot,
  type Link,
  rt,
  type Snapshot,
  settingKeys,
} from '../snapshot.ts';
import { formerSettings, withFormerSettings } from '../state.ts';
import { type Belongings, isOwnRoute, isOwnRule, routeKey } from './ownership.ts';

const nicAddress = z.object({
  /** `ip/prefix`. */
  cidr: z.string(),
  broadcast: z.string().exactOptional(),
  /** True if the kernel's connected route for this address is missing. */
  noPrefixRoute: z.boolean(),
  /** Set if the address expires. */
  temporary: z.literal(true).exactOptional(),
  /** IPv6 duplicate address detection: running, or failed; never wanted. */
  probe: z.enum(['going on', 'failed']).exactOptional(),
});

const nicRoute = z.object({
  to: z.string(),
  via: z.string().exactOptional(),
  table: z.int(),
  protocol: z.int(),
  scope: z.int(),
  src: z.string().exactOptional(),
  metric: z.int(),
});

const nicRule = z.object({
  from: z.string(),
  table: z.int(),
  priority: z.int(),
  protocol: z.int(),
});

const linkState = z
  .object({
    /** Leaves out settings the link lacks and irrelevant settings. */
    ...formerSettings,
    name: z.string(),
    /** Set if the link sends with another MAC than its own, `own`; never wanted. */
    changedMac: z.object({ now: z.string(), own: z.string() }).exactOptional(),
    /** Alternative names from udev; never wanted, but may block a rename. */
    altNames: z.array(z.string()).readonly().exactOptional(),
    mtu: z.int(),
    up: z.boolean(),
    /** Absent on a link without IPv6, or if irrelevant. */
    addressMode: z.string().exactOptional(),
    /** In kernel order: a subnet's first IPv4 address is primary. */
    addresses: z.array(nicAddress).readonly(),
    /**
     * IPv6 link-local addresses; the kernel makes and drops them as the link goes up and down. Absent if irrelevant.
     */
    linkLocal: z.array(z.string()).readonly().exactOptional(),
    /** All routes except kernel-made routes from addresses. */
    routes: z.array(nicRoute).readonly(),
  })
  .transform(withFormerSettings);

/**
 * NIC state the agent changes, and must therefore be able to restore. Apply, removal and rollback work alike: they move
 * a NIC from the current state to another state.
 */
export const nicState = z.object({
  /** Absent if the NIC is not on the host. */
  link: linkState.exactOptional(),
  /** Managed rules; unlike routes, rules outlive their NIC. Duplicates are possible. */
  rules: z.array(nicRule).readonly(),
});

export type NicAddress = Readonly<z.infer<typeof nicAddress>>;
export type NicRoute = Readonly<z.infer<typeof nicRoute>>;
export type NicRule = Readonly<z.infer<typeof nicRule>>;
export type LinkState = Readonly<z.infer<typeof linkState>>;
export type NicState = Readonly<z.infer<typeof nicState>>;

/** Smallest MTU for IPv6: links below have no IPv6 settings and no IPv6 addresses (RFC 8200). */
export const minIpv6Mtu = 1280;

/** True if two states are equal, ignoring order. */
export function sameNic(a: NicState, b: NicState): boolean {
  return nicDifference(a, b) === '';
}

/**
 * Describes differences between two states; empty if equal. A setting missing on either side is no difference: the
 * kernel removes IPv6 settings from a link with a smaller MTU.
 */
export function nicDifference(have: NicState, want: NicState): string {
  if (!have.link !== !want.link) return want.link ? 'the link is missing' : 'the link still exists';
  const wanted = new Map(partsOf(want));
  const differing = partsOf(have).flatMap(([name, value]) => {
    const other = wanted.get(name);
    if (value === undefined || other === undefined || value === other) return [];
    return [`${name} is ${value || 'none'}, not ${other || 'none'}`];
  });
  return differing.join('; ');
}

function partsOf({ link, rules }: NicState) {
  const parts: (readonly [string, string | undefined])[] = link
    ? [
        ['name', link.name],
        ['current MAC', link.changedMac?.now ?? ''],
        ['mtu', String(link.mtu)],
        ['state', link.up ? 'up' : 'down'],
        ['addrgenmode', link.addressMode],
        ['addresses', list(link.addresses.map(addressText))],
        ...settingKeys.map((key) => [key, link.settings[key]] as const),
        ['link-local addresses', link.linkLocal && list(link.linkLocal)],
        ['routes', list(link.routes.map(routeText))],
      ]
    : [];
  return [...parts, ['rules', list([...new Set(rules.map(ruleText))])] as const];
}

function list(texts: readonly string[]): string {
  return texts.toSorted().join(', ');
}

function addressText({ cidr, broadcast, noPrefixRoute, temporary, probe }: NicAddress): string {
  return [
    cidr,
    ...(broadcast ? [`brd ${broadcast}`] : []),
    ...(noPrefixRoute ? ['noprefixroute'] : []),
    ...(temporary ? ['with a lifetime'] : []),
    ...(probe ? [`(probe ${probe})`] : []),
  ].join(' ');
}

/** Returns a unique text per route. */
export function routeText(route: NicRoute): string {
  const { via, src, protocol, scope } = route;
  const hop = `${via ? ` via ${via}` : ''}${src ? ` src ${src}` : ''}`;
  return `${routeKey(route)}${hop} proto ${protocol} scope ${scope}`;
}

/**
 * Returns a unique text per rule. Protocols kernel, static and none count as equal: the agent sets kernel, systemd 252
 * sets static after a boot, systemd 247 and NetworkManager 1.30 set none.
 */
export function ruleText({ from, table, priority, protocol }: NicRule): string {
  const owner = protocol === rt.protocolKernel || protocol === 0 ? rt.protocolStatic : protocol;
  return `${priority}: from ${from} lookup ${table} proto ${owner}`;
}

/** Keys for finding a NIC and its managed state on the host. */
export interface RecordedNic {
  readonly mac: string;
  readonly belongings: Belongings;
  /** Set if only rules count: the link must stay unchanged, or belongs to other software by now. */
  readonly rulesOnly?: true;
}

/** Returns the NIC's current managed state, without foreign state on the link. */
export function presentState(
  host: KernelSnapshot,
  link: Link | undefined,
  belongings: Belongings,
): NicState {
  const rules = host.rules
    .filter((rule) => isOwnRule(rule, belongings))
    .map(({ from, table = 0, priority, protocol }) => ({ from, table, priority, protocol }));
  return link ? { link: presentLink(host, link, belongings), rules } : { rules };
}

function presentLink(host: KernelSnapshot, link: Link, belongings: Belongings): LinkState {
  const addresses = host.addresses.filter((address) => address.link === link.name);
  return {
    name: link.name,
    ...(link.sendsAs ? { changedMac: { now: link.sendsAs, own: link.mac } } : {}),
    ...(link.altNames.length > 0 ? { altNames: link.altNames } : {}),
    mtu: link.mtu,
    up: link.up,
    ...(link.addressMode === undefined ? {} : { addressMode: link.addressMode }),
    settings: host.settings.get(link.name) ?? {},
    addresses: addresses
      .filter(({ cidr }) => belongings.ips.includes(ipOf(cidr)))
      .map((address) => ({
        cidr: address.cidr,
        ...(address.broadcast ? { broadcast: address.broadcast } : {}),
        noPrefixRoute: link.up
          ? !hasConnectedRoute(host, link, address.cidr)
          : address.noPrefixRoute,
        ...(address.temporary ? { temporary: true as const } : {}),
        ...probeOf(address, link),
      })),
    linkLocal: addresses.filter(isLinkLocal).map(({ cidr }) => cidr),
    routes: host.routes
      .filter((route) => {
        const kernelMade = isKernelMade(route);
        return !kernelMade && route.links.includes(link.name) && isOwnRoute(route, belongings);
      })
      .map(({ to, via, table, protocol, scope, src, metric }) => ({
        to,
        ...(via ? { via } : {}),
        table,
        protocol,
        scope,
        ...(src ? { src } : {}),
        metric,
      })),
  };
}

/**
 * The kernel starts probing when the carrier comes (`addrconf_dad_start`): without a carrier, tentative is the final
 * state.
 */
function probeOf({ probe }: Address, { noCarrier }: Link): Pick<NicAddress, 'probe'> {
  return probe === undefined || (probe === 'going on' && noCarrier) ? {} : { probe };
}

/**
 * Checks the route itself: foreign software may delete it and keep the address, or create it in the kernel's place
 * (NetworkManager).
 */
function hasConnectedRoute({ routes }: KernelSnapshot, link: Link, cidr: string): boolean {
  if (prefixOf(cidr) === hostPrefix(familyOf(cidr))) return true;
  const subnet = networkOf(cidr);
  return routes.some(
    ({ to, table, links }) => table === rt.mainTable && to === subnet && links.includes(link.name),
  );
}

/**
 * True if the kernel derived the address from the link (RFC 4862): such an address says nothing about the link's users.
 */
export function isLinkLocal({ family, scope, cidr }: Snapshot['addresses'][number]): boolean {
  return family === 6 && scope === rt.scopeLink && ipOf(cidr).startsWith('fe80:');
}
