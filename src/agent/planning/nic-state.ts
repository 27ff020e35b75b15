/**
 * Everything of one NIC that the agent changes, and so everything it must be able to put back. Applying, removing and
 * rolling back are all the same act: bring a NIC from the state it has to another one.
 */
export interface NicState {
  /** Absent when the NIC is not on the host. */
  readonly link?: LinkState;
  /** Rules of ours; unlike routes they outlive their NIC. A rule may be there twice. */
  readonly rules: readonly NicRule[];
}

export interface LinkState {
  readonly name: string;
  readonly mtu: number;
  readonly up: boolean;
  /** Absent on a host without IPv6. */
  readonly addressMode?: string;
  /** `net.ipv6.conf.<name>.accept_ra`; absent on a host without IPv6. */
  readonly acceptRa?: string;
  /** IPv4 addresses in the kernel's order: the first of a subnet is its primary address. */
  readonly addresses: readonly NicAddress[];
  /** IPv6 link-local addresses, which the kernel makes and drops by itself as the link goes up and down. */
  readonly linkLocal: readonly string[];
  /** IPv4 routes except those that the kernel makes from addresses. */
  readonly routes: readonly NicRoute[];
}

export interface NicAddress {
  /** `ip/prefix`. */
  readonly cidr: string;
  readonly broadcast?: string;
  /** Whether the kernel leaves out the connected route of this address. */
  readonly noPrefixRoute: boolean;
}

export interface NicRoute {
  readonly to: string;
  readonly via?: string;
  readonly table: number;
  readonly protocol: number;
  readonly scope: number;
  readonly src?: string;
  readonly metric: number;
}

export interface NicRule {
  readonly from: string;
  readonly table: number;
  readonly priority: number;
  readonly protocol: number;
}

/** What the kernel takes for the same route: a new one with this key replaces the old one. */
export function routeKey({ to, table, metric }: NicRoute): string {
  return `${to} table ${table} metric ${metric}`;
}

/** Whether two states are the same, whatever the order of what is in them. */
export function sameNic(a: NicState, b: NicState): boolean {
  return fingerprint(a) === fingerprint(b);
}

/** What differs between two states, in a few words; empty when nothing does. */
export function nicDifference(have: NicState, want: NicState): string {
  if (!have.link !== !want.link) return want.link ? 'the NIC is gone' : 'the NIC is there';
  const parts = partsOf(want);
  const differing = partsOf(have).flatMap(([name, value], i) => {
    const wanted = parts[i]?.[1] ?? '';
    return value === wanted ? [] : [`${name} is ${value || 'none'}, not ${wanted || 'none'}`];
  });
  return differing.join('; ');
}

function fingerprint(state: NicState): string {
  return JSON.stringify([state.link !== undefined, partsOf(state)]);
}

function partsOf({ link, rules }: NicState): [string, string][] {
  const parts: [string, string][] = link
    ? [
        ['name', link.name],
        ['mtu', String(link.mtu)],
        ['state', link.up ? 'up' : 'down'],
        ['addrgenmode', link.addressMode ?? ''],
        ['accept_ra', link.acceptRa ?? ''],
        ['addresses', list(link.addresses.map(addressText))],
        ['link-local addresses', list(link.linkLocal)],
        ['routes', list(link.routes.map(routeText))],
      ]
    : [];
  return [...parts, ['rules', list(rules.map(ruleText))]];
}

function list(texts: readonly string[]): string {
  return texts.toSorted().join(', ');
}

function addressText({ cidr, broadcast, noPrefixRoute }: NicAddress): string {
  return `${cidr}${broadcast ? ` brd ${broadcast}` : ''}${noPrefixRoute ? ' noprefixroute' : ''}`;
}

/** Text of a route that tells any two apart. */
export function routeText(route: NicRoute): string {
  const { via, src, protocol, scope } = route;
  const hop = `${via ? ` via ${via}` : ''}${src ? ` src ${src}` : ''}`;
  return `${routeKey(route)}${hop} proto ${protocol} scope ${scope}`;
}

/** Text of a rule that tells any two apart. */
export function ruleText({ from, table, priority, protocol }: NicRule): string {
  return `${priority}: from ${from} lookup ${table} proto ${protocol}`;
}
