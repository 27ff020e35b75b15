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
  /** Temporary name, used first if another NIC needs this NIC's current name. */
  readonly evictTo?: string;
  /** Kernels before 6.2 refuse to rename a link in state up (EBUSY): set the link down first. */
  readonly renameDown?: boolean;
}

/**
 * Returns the change from state `now` to state `want`; empty if equal. New addresses, routes and rules come before
 * deletions. Passing through "down" deletes all routes, so they are set again afterwards.
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

/** Returns link operations, and the link state they leave as a base for addresses and routes. */
function linkOperations(now: LinkState, want: LinkState, options: DiffOptions) {
  const before: Operation[] = [];
  const dev = want.name;
  let state: LinkState = { ...now, name: dev };
  if (now.up && goesThroughDown(now, want, options)) {
    before.push({ kind: 'link.down', dev: now.name });
    // Down deletes all routes and all IPv6 addresses.
    state = { ...withoutIPv6(state), up: false, routes: [] };
  }
  before.push(...renameOperations(now, dev), ...macOperations(now, want));
  if (now.mtu !== want.mtu) before.push({ kind: 'link.mtu', dev, mtu: want.mtu });
  if (want.mtu < minIpv6Mtu) state = withoutIPv6(state);
  else before.push(...modeOperations(now, want));
  const up: Operation | undefined = want.up && !state.up ? { kind: 'link.up', dev } : undefined;
  if (up) state = { ...state, up: true, linkLocal: want.linkLocal ?? [] };
  return { before, up, state };
}

/** A rollback sets the MAC from before the change again. */
function macOperations({ changedMac: now }: LinkState, { name: dev, changedMac: want }: LinkState) {
  if (now?.now === want?.now) return [];
  const mac = want?.now ?? now?.own;
  return mac === undefined ? [] : [{ kind: 'link.mac', dev, mac } as const];
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

/** The link's own alternative name blocks a rename, like another link's name. */
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
 * True if the link must go down first. The kernel makes link-local addresses when a link goes up, so a link without
 * IPv4 addresses takes this way to get them. A link in use keeps its routes and gets link-local addresses one by one.
 * No link goes down to lose them: NetworkManager 1.42 restores everything it holds when a link comes up. A link ending
 * down goes down first: any kernel can then rename the link.
 */
function goesThroughDown(now: LinkState, want: LinkState, { renameDown = false }: DiffOptions) {
  if (!want.up || (renameDown && now.name !== want.name)) return true;
  const idle = now.addresses.length === 0 || want.addresses.length === 0;
  return idle && want.mtu >= minIpv6Mtu && lacksLinkLocal(now, want);
}

/** True if the kernel must still make link-local addresses. */
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
  // The kernel probes a duplicate address again only after deletion and re-adding.
  const obsolete = now.addresses.filter(
    (address) => !wanted.has(addressKey(address)) || address.probe === 'failed',
  );
  const local = linkLocalChanges(now, want);
  return {
    add: [
      ...want.addresses.filter((address) => !present.has(addressKey(address))),
      ...local.add,
    ].map(add),
    // Secondaries come before their primary address: deleting the primary would delete them too.
    delete: [...obsolete.toReversed(), ...local.delete].map(remove),
    // Deleting a primary address deletes its secondaries unless promote_secondaries is set. Deleting the last address
    // deletes all routes. Adding an address never replaces an address with other attributes.
    again: obsolete.length > 0 ? want.addresses.map(add) : [],
  };
}

function linkLocalChanges(now: LinkState, want: LinkState) {
  const { linkLocal: have = [] } = now;
  // Link-local addresses made by the previous mode go with the mode.
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
  // Setting a route replaces the route with the same key. If foreign software appended several, only the first is
  // replaced.
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

/** Rules with the same text are one rule: copies of a wanted rule stay, and a removal deletes every copy. */
function ruleOperations(now: readonly NicRule[], want: readonly NicRule[]) {
  const present = new Set(now.map(ruleText));
  const wanted = new Map(want.map((rule) => [ruleText(rule), rule]));
  const missing = [...wanted].filter(([text]) => !present.has(text));
  const obsolete = now.filter((rule) => !wanted.has(ruleText(rule)));
  return {
    add: missing.map(([, rule]): Operation => ({ kind: 'rule.add', rule })),
    delete: obsolete.map((rule): Operation => ({ kind: 'rule.delete', rule })),
  };
}

/** Leaves out the lifetime: adding a present address makes the address permanent. */
function addressKey({ cidr, broadcast, noPrefixRoute }: NicAddress): string {
  return `${cidr} ${broadcast ?? ''} ${noPrefixRoute}`;
}

/** False if a side is undefined: the link lacks the setting, or no value is wanted. */
function differ(now: string | undefined, want: string | undefined): boolean {
  return now !== undefined && want !== undefined && now !== want;
}
