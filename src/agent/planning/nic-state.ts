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
  /** Whether the kernel's connected route of this address is not there. */
  noPrefixRoute: z.boolean(),
  /** It will expire. */
  temporary: z.literal(true).exactOptional(),
  /** IPv6: whether it is another's is not known yet, or known; never wanted. */
  probe: z.enum(['going on', 'failed']).exactOptional(),
});

export const nicRoute = z.object({
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
    /** Without those that the link does not have, and those that do not matter. */
    ...formerSettings,
    name: z.string(),
    /** Names that udev gave it beside its own; they are never wanted, only in the way of a rename. */
    altNames: z.array(z.string()).readonly().exactOptional(),
    mtu: z.int(),
    up: z.boolean(),
    /** Absent on a link without IPv6, and where it does not matter. */
    addressMode: z.string().exactOptional(),
    /** In the kernel's order: the first IPv4 address of a subnet is its primary address. */
    addresses: z.array(nicAddress).readonly(),
    /** IPv6 link-local addresses, which the kernel makes and drops as the link goes up and down; absent where they do not matter. */
    linkLocal: z.array(z.string()).readonly().exactOptional(),
    /** All but those that the kernel makes from addresses. */
    routes: z.array(nicRoute).readonly(),
  })
  .transform(withFormerSettings);

/**
 * Everything of one NIC that the agent changes, and so everything it must be able to put back. Applying, removing and
 * rolling back are all the same act: bring a NIC from the state it has to another one.
 */
export const nicState = z.object({
  /** Absent when the NIC is not on the host. */
  link: linkState.exactOptional(),
  /** Rules of ours; unlike routes they outlive their NIC. A rule may be there twice. */
  rules: z.array(nicRule).readonly(),
});

export type NicAddress = Readonly<z.infer<typeof nicAddress>>;
export type NicRoute = Readonly<z.infer<typeof nicRoute>>;
export type NicRule = Readonly<z.infer<typeof nicRule>>;
export type LinkState = Readonly<z.infer<typeof linkState>>;
export type NicState = Readonly<z.infer<typeof nicState>>;

/** Links with a smaller MTU have no IPv6, none of its settings and none of its addresses (RFC 8200). */
export const minIpv6Mtu = 1280;

/** Whether two states are the same, whatever the order of what is in them. */
export function sameNic(a: NicState, b: NicState): boolean {
  return nicDifference(a, b) === '';
}

/**
 * What differs between two states, in a few words; empty when nothing does. A setting that either of them lacks is no
 * difference: the kernel takes IPv6 and its settings off a link whose MTU is too small for it.
 */
export function nicDifference(have: NicState, want: NicState): string {
  if (!have.link !== !want.link) return want.link ? 'the NIC is gone' : 'the NIC is there';
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
        ['mtu', String(link.mtu)],
        ['state', link.up ? 'up' : 'down'],
        ['addrgenmode', link.addressMode],
        ['addresses', list(link.addresses.map(addressText))],
        ...settingKeys.map((key) => [key, link.settings[key]] as const),
        ['link-local addresses', link.linkLocal && list(link.linkLocal)],
        ['routes', list(link.routes.map(routeText))],
      ]
    : [];
  return [...parts, ['rules', list(rules.map(ruleText))] as const];
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

/** Text of a route that tells any two apart. */
export function routeText(route: NicRoute): string {
  const { via, src, protocol, scope } = route;
  const hop = `${via ? ` via ${via}` : ''}${src ? ` src ${src}` : ''}`;
  return `${routeKey(route)}${hop} proto ${protocol} scope ${scope}`;
}

/**
 * Text of a rule that tells any two apart; the kernel's, as we make them, and the manager's of the next boot are one: static
 * by systemd 252, none by systemd 247 and NetworkManager 1.30.
 */
export function ruleText({ from, table, priority, protocol }: NicRule): string {
  const owner = protocol === rt.protocolKernel || protocol === 0 ? rt.protocolStatic : protocol;
  return `${priority}: from ${from} lookup ${table} proto ${owner}`;
}

/** Enough of a NIC to find it and to know what of the host belongs to it. */
export interface RecordedNic {
  readonly mac: string;
  readonly belongings: Belongings;
  /** Whether nothing of its link counts: that is not to be changed, or somebody else's by now. */
  readonly rulesOnly?: true;
}

/** The state a NIC has now, as far as it is ours: what others have on its link is not in it. */
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
        const made = isKernelMade(route);
        return !made && route.links.includes(link.name) && isOwnRoute(route, belongings);
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

/** The kernel begins to probe an address with the carrier (`addrconf_dad_start`): without one, tentative is the end state. */
function probeOf({ probe }: Address, { noCarrier }: Link): Pick<NicAddress, 'probe'> {
  return probe === undefined || (probe === 'going on' && noCarrier) ? {} : { probe };
}

/**
 * Others may take away what the kernel made from an address, and leave the address; or they make it themselves, as
 * NetworkManager does.
 */
function hasConnectedRoute({ routes }: KernelSnapshot, link: Link, cidr: string): boolean {
  if (prefixOf(cidr) === hostPrefix(familyOf(cidr))) return true;
  const subnet = networkOf(cidr);
  return routes.some(
    ({ to, table, links }) => table === rt.mainTable && to === subnet && links.includes(link.name),
  );
}

/** Whether the kernel made the address from the link itself (RFC 4862): it says nothing about who uses the link. */
export function isLinkLocal({ family, scope, cidr }: Snapshot['addresses'][number]): boolean {
  return family === 6 && scope === rt.scopeLink && ipOf(cidr).startsWith('fe80:');
}
