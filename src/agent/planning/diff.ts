import { familyOf } from '../../api/address.ts';
import { settingKeys } from '../snapshot.ts';
import {
  type LinkState,
  minIpv6Mtu,
  type NicAddress,
  type NicRule,
  type NicState,
  routeText,
  ruleText,
} from './nic-state.ts';
import type { Change, Operation, SysctlWrite } from './operation.ts';
import { routeKey } from './ownership.ts';

export interface DiffOptions {
  /** A name to move to first, when another NIC needs this NIC's present name. */
  readonly evictTo?: string;
  /** Kernels before 6.2 refuse to rename a link that is up (EBUSY): take it down for that. */
  readonly renameDown?: boolean;
}

/**
 * What brings a NIC from the state `now` to the state `want`; nothing when they are the same. New addresses, routes and
 * rules are added before old ones go. Passing through "down" costs all routes, so they are set again after it.
 */
export function diffNic(now: NicState, want: NicState, options: DiffOptions = {}): Change {
  const rules = ruleOperations(now.rules, want.rules);
  if (!now.link || !want.link) {
    return { sysctls: [], operations: [...rules.add, ...rules.delete] };
  }
  const { evictTo } = options;
  const start = evictTo ? { ...now.link, name: evictTo } : now.link;
  const link = linkOperations(start, want.link, options);
  const addresses = addressOperations(link.state, want.link);
  const routes = routeOperations(link.state, want.link, addresses.again.length > 0);
  return {
    sysctls: sysctlWrites(now.link, want.link),
    ...(evictTo ? { eviction: { kind: 'link.rename', dev: now.link.name, to: evictTo } } : {}),
    operations: [
      ...link.before,
      ...addresses.add,
      ...(link.up ? [link.up] : []),
      ...(want.link.up ? routes.set : []),
      ...rules.add,
      ...rules.delete,
      ...routes.delete,
      ...addresses.delete,
      ...addresses.again,
      ...(want.link.up ? routes.again : []),
    ],
  };
}

function sysctlWrites(now: LinkState, want: LinkState): SysctlWrite[] {
  return settingKeys.flatMap((key) => {
    const value = want.settings[key];
    const changes = value !== undefined && differ(now.settings[key], value);
    return changes ? [{ dev: now.name, key, value }] : [];
  });
}

/** Operations on the link itself, and the state it is in before its addresses and routes are looked at. */
function linkOperations(now: LinkState, want: LinkState, options: DiffOptions) {
  const before: Operation[] = [];
  const dev = want.name;
  let state: LinkState = { ...now, name: dev };
  if (now.up && goesThroughDown(now, want, options)) {
    before.push({ kind: 'link.down', dev: now.name });
    // Down takes all routes along, and all addresses of IPv6.
    state = { ...withoutIPv6(state), up: false, routes: [] };
  }
  before.push(...renameOperations(now, dev));
  if (now.mtu !== want.mtu) before.push({ kind: 'link.mtu', dev, mtu: want.mtu });
  if (want.mtu < minIpv6Mtu) state = withoutIPv6(state);
  else before.push(...modeOperations(now, want));
  const up: Operation | undefined = want.up && !state.up ? { kind: 'link.up', dev } : undefined;
  if (up) state = { ...state, up: true, linkLocal: want.linkLocal ?? [] };
  return { before, up, state };
}

function withoutIPv6(state: LinkState): LinkState {
  return {
    ...state,
    linkLocal: [],
    addresses: state.addresses.filter(({ cidr }) => familyOf(cidr) === 4),
    routes: state.routes.filter(({ to }) => familyOf(to) === 4),
  };
}

function modeOperations({ addressMode: now }: LinkState, want: LinkState): Operation[] {
  const { name: dev, addressMode: mode } = want;
  return mode !== undefined && differ(now, mode) ? [{ kind: 'link.address-mode', dev, mode }] : [];
}

/** An alternative name of the link's own stands in the way like one of another link. */
function renameOperations({ name, altNames = [] }: LinkState, to: string): Operation[] {
  if (name === to) return [];
  return [
    ...(altNames.includes(to)
      ? [{ kind: 'link.altname-delete', dev: name, name: to } as const]
      : []),
    { kind: 'link.rename', dev: name, to },
  ];
}

/**
 * The kernel makes link-local addresses as a link goes up, so a link without IPv4 addresses, which nobody can miss, takes that
 * way to get them; one in use keeps its routes and gets them one by one. To lose them none does: NetworkManager sets all that
 * it holds of a link once more when that comes up again (1.42). A link that ends down goes there first: it may then be renamed
 * by any kernel.
 */
function goesThroughDown(now: LinkState, want: LinkState, { renameDown = false }: DiffOptions) {
  if (!want.up || (renameDown && now.name !== want.name)) return true;
  const idle = now.addresses.length === 0 || want.addresses.length === 0;
  return idle && want.mtu >= minIpv6Mtu && lacksLinkLocal(now, want);
}

/** Whether there are link-local addresses for the kernel to make. */
function lacksLinkLocal({ addressMode, linkLocal: have = [] }: LinkState, want: LinkState) {
  if (want.addressMode === 'none') return false;
  const missing = want.linkLocal?.some((cidr) => !have.includes(cidr)) ?? false;
  return missing || differ(addressMode, want.addressMode);
}

function addressOperations(now: LinkState, want: LinkState) {
  const dev = want.name;
  const add = (address: NicAddress): Operation => ({ kind: 'address.add', dev, address });
  const remove = (address: NicAddress): Operation => ({ kind: 'address.delete', dev, address });
  const wanted = new Set(want.addresses.map(addressKey));
  const present = new Set(now.addresses.filter((address) => !address.temporary).map(addressKey));
  // One that somebody else has is probed again only when it is added anew.
  const obsolete = now.addresses.filter(
    (address) => !wanted.has(addressKey(address)) || address.probe === 'failed',
  );
  const local = linkLocalChanges(now, want);
  return {
    add: [
      ...want.addresses.filter((address) => !present.has(addressKey(address))),
      ...local.add,
    ].map(add),
    // Secondaries before their primary address, which would take them along.
    delete: [...obsolete.toReversed(), ...local.delete].map(remove),
    // Deleting a primary address takes its secondaries along unless promote_secondaries is set, and the last one all
    // routes; an address that only differs in its attributes is not replaced by adding it.
    again: obsolete.length > 0 ? want.addresses.map(add) : [],
  };
}

function linkLocalChanges(now: LinkState, want: LinkState) {
  const { linkLocal: have = [] } = now;
  // Those that the mode before has made go with it.
  const isOver = want.addressMode === 'none' && differ(now.addressMode, want.addressMode);
  const wanted = want.linkLocal ?? (isOver ? [] : have);
  const missing = wanted.filter((cidr) => !have.includes(cidr));
  const surplus = have.filter((cidr) => !wanted.includes(cidr));
  return { add: missing.map(linkLocalAddress), delete: surplus.map(linkLocalAddress) };
}

function linkLocalAddress(cidr: string): NicAddress {
  return { cidr, noPrefixRoute: false };
}

function routeOperations(now: LinkState, want: LinkState, addressesGo: boolean) {
  const dev = want.name;
  const present = new Set(now.routes.map(routeText));
  const wanted = new Set(want.routes.map(routeText));
  // Setting a route replaces the one with its key; of several, as others may append them, it replaces the first.
  const replaced = new Set(
    want.routes.filter((route) => !present.has(routeText(route))).map(routeKey),
  );
  const set = want.routes.map((route) => ({ kind: 'route.set', dev, route }) as const);
  return {
    set: set.filter(({ route }) => !present.has(routeText(route))),
    delete: now.routes
      .filter((route) => !wanted.has(routeText(route)) && !replaced.has(routeKey(route)))
      .map((route) => ({ kind: 'route.delete', dev, route }) as const),
    again: addressesGo ? set : [],
  };
}

/** Rules are compared one by one, so that a rule which is there twice is deleted once. */
function ruleOperations(now: readonly NicRule[], want: readonly NicRule[]) {
  const surplus = now.map(ruleText);
  const add: Operation[] = [];
  for (const rule of want) {
    const at = surplus.indexOf(ruleText(rule));
    if (at >= 0) surplus.splice(at, 1);
    else add.push({ kind: 'rule.add', rule });
  }
  const remove: Operation[] = [];
  for (const rule of now) {
    const at = surplus.indexOf(ruleText(rule));
    if (at < 0) continue;
    surplus.splice(at, 1);
    remove.push({ kind: 'rule.delete', rule });
  }
  return { add, delete: remove };
}

/** A lifetime is not in it: adding an address that is there makes it permanent. */
function addressKey({ cidr, broadcast, noPrefixRoute }: NicAddress): string {
  return `${cidr} ${broadcast ?? ''} ${noPrefixRoute}`;
}

/** A setting that a link does not have, or of which nothing is wanted, needs no change. */
function differ(now: string | undefined, want: string | undefined): boolean {
  return now !== undefined && want !== undefined && now !== want;
}
