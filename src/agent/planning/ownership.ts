import { ipOf, prefixOf } from '../../api/address.ts';
import type { RequestInterface } from '../../api/job.ts';
import {
  indexOfName,
  interfaceName,
  maxIndex,
  routingTable,
  rulePriority,
} from '../../api/names.ts';
import { nicOf } from '../identity.ts';
import { hasOtherDefault, isDefault } from '../own-link.ts';
import {
  type ConfigFile,
  type Link,
  type Route,
  type Rule,
  rt,
  type Snapshot,
} from '../snapshot.ts';
import type { AdoptedConfig, AgentState, NicRecord, Ownership } from '../state.ts';

/** Keys for host state belonging to one managed NIC, old and new. */
export type Belongings = { readonly [Key in keyof Ownership]: Readonly<Ownership[Key]> };

/** A NIC's foreign configuration, with everything the NIC loses when the agent takes the configuration over. */
export interface Takeover {
  /** Stanzas in files, for the record. */
  readonly adopted: readonly AdoptedConfig[];
  /** Ownership keys of the configuration in the kernel. */
  readonly owned: Belongings;
  /** Foreign files, with text without effect on the NIC. */
  readonly edits: readonly { readonly file: ConfigFile; readonly text: string }[];
}

/** Configuration given to a NIC. */
interface Given {
  readonly addresses: readonly string[];
  readonly table: number;
  readonly routes?: readonly Pick<Route, 'to' | 'table' | 'metric'>[] | undefined;
}

/** Source data for a managed NIC's rules. */
export interface Ruled extends Given {
  readonly mac: string;
}

/** Returns ownership keys for a NIC's configuration. */
export function keysOf({ addresses, table, routes = [] }: Given): Ownership {
  const ips = addresses.map(ipOf);
  return { tables: [table], ips, routes: routes.map(routeKey), rules: rulesFrom([table], ips) };
}

/** Returns rule keys for every pair of address and table. */
export function rulesFrom(tables: readonly number[], ips: readonly string[]): string[] {
  return tables.flatMap((table) => ips.map((ip) => ruleKey(ip, table)));
}

/** Returns the union, without duplicates. */
export function allOf(lists: readonly Belongings[]): Ownership {
  return {
    tables: [...new Set(lists.flatMap(({ tables }) => tables))],
    ips: [...new Set(lists.flatMap(({ ips }) => ips))],
    routes: [...new Set(lists.flatMap(({ routes }) => routes))],
    rules: [...new Set(lists.flatMap(({ rules }) => rules))],
  };
}

/**
 * Returns the ownership keys in state.json; records by earlier agents lack `owned`, so the request fields supply the
 * keys.
 */
export function listOf(record: NicRecord): Ownership {
  return record.owned ?? keysOf(record);
}

/** Host state that shows what a NIC owns. */
type OwnedOn = Pick<Snapshot, 'held' | 'links' | 'addresses' | 'routes' | 'rules' | 'files'>;

/**
 * Returns everything a NIC owns: recorded configuration, configuration the network manager holds now or has held since
 * boot, and what others made of a recorded NIC's configuration. The manager sets its configuration again whenever the
 * carrier returns.
 */
export function ownedBy(
  mac: string,
  record: NicRecord | undefined,
  host: OwnedOn,
  others: readonly Ruled[] = [],
): Belongings {
  const held = host.held.filter((file) => file.mac === mac);
  const belongings = allOf([
    ...(record ? [listOf(record)] : []),
    ...(record?.boot ? [keysOf({ ...record.boot, table: record.table })] : []),
    ...held.map((nic) => keysOf({ ...nic, table: routingTable(nic.index) })),
    ...(record ? [derivedFrom(record, host), setLater(record, host)] : []),
  ]);
  return withoutReassignedRules(mac, belongings, others);
}

const nothing: Belongings = { tables: [], ips: [], routes: [], rules: [] };

/**
 * Returns state derived from a recorded NIC: router advertisements on its link, although the agent turns them off, and
 * copies of its table's routes in main. NetworkManager moves these routes to main when a device is reapplied.
 */
function derivedFrom({ mac, table, tableRoutes = [] }: NicRecord, host: OwnedOn): Belongings {
  const { links } = nicOf(host, mac);
  const isOn = (name: string) => links.some((link) => link.name === name);
  const routes = host.routes.filter((route) => route.links.length === 1 && route.links.some(isOn));
  const advertised = routes.filter(({ protocol }) => protocol === rt.protocolRa);
  const present = routes.filter((route) => route.table === table);
  const hops = new Set([...tableRoutes, ...present].map(hopOf));
  const copies = routes.filter(
    (route) =>
      route.table === rt.mainTable &&
      route.protocol === rt.protocolStatic &&
      hops.has(hopOf(route)) &&
      (!isDefault(route) || hasOtherDefault(host, route)),
  );
  const addresses = host.addresses.filter(
    ({ link, family, temporary, cidr }) =>
      isOn(link) && family === 6 && temporary && prefixOf(cidr) < 128,
  );
  return {
    ...nothing,
    ips: addresses.map(({ cidr }) => ipOf(cidr)),
    routes: [...advertised, ...copies].map(routeKey),
  };
}

function hopOf({ to, via = '' }: Pick<Route, 'to' | 'via'>): string {
  return `${to} via ${via}`;
}

/**
 * Returns state added after the record: a legacy agent's rules for addresses on the NIC, and addresses in its files and
 * ours. `nmcli connection modify` adds an address to our profile.
 */
function setLater({ mac, table }: NicRecord, host: OwnedOn): Belongings {
  const files = host.files.flatMap(({ own }) => (own?.mac === mac ? [own] : []));
  const filed = files.flatMap(({ addresses }) => addresses.map(ipOf));
  const { links } = nicOf(host, mac);
  const present = links.flatMap((link) => presentAddresses(host, link).map(ipOf));
  const ruled = inheritedSources(host, table).filter((ip) => present.includes(ip));
  const ips = [...ruled, ...filed];
  return { ...nothing, ips, rules: rulesFrom([table], ips) };
}

/** Removes rules now owned by another managed NIC, after reuse of index and address. */
export function withoutReassignedRules(
  mac: string,
  belongings: Belongings,
  nics: readonly Ruled[],
): Belongings {
  const others = nics.filter((nic) => nic.mac !== mac);
  const theirs = new Set(others.flatMap((nic) => keysOf(nic).rules));
  return { ...belongings, rules: belongings.rules.filter((key) => !theirs.has(key)) };
}

function ruleKey(ip: string, table: number): string {
  return `${ip} table ${table}`;
}

/** Returns the network manager's configuration for the NIC since boot. */
export function generatedConfigOf(
  mac: string,
  record: NicRecord | undefined,
  { held }: Pick<Snapshot, 'held'>,
): Pick<NonNullable<NicRecord['boot']>, 'addresses' | 'routes'> {
  const { addresses = [], routes = [] } = record?.boot ?? {};
  const now = held.filter((nic) => nic.mac === mac);
  const all = [...routes, ...now.flatMap((nic) => nic.routes ?? [])];
  const distinct = [...new Map(all.map((route) => [routeKey(route), route])).values()];
  return {
    addresses: [...new Set([...addresses, ...now.flatMap((nic) => nic.addresses)])],
    ...(distinct.length > 0 ? { routes: distinct } : {}),
  };
}

/**
 * Returns the state with each record updated to the network manager's current configuration: netplan may have processed
 * our files since boot.
 */
export function withGeneratedConfig(state: AgentState, host: Pick<Snapshot, 'held'>): AgentState {
  const nics = state.nics.map((nic) =>
    nic.boot ? { ...nic, boot: { ...nic.boot, ...generatedConfigOf(nic.mac, nic, host) } } : nic,
  );
  return { ...state, nics };
}

/**
 * Returns NICs detached since boot and back under our name. netplan's output for udev and networkd lasts until the next
 * boot: both name and configure a replugged NIC by it.
 */
export function reattachedNics({ nics, left = [] }: AgentState, host: Snapshot): NicRecord[] {
  const ours = new Set(nics.map(({ mac }) => mac));
  const isBack = ({ mac, index }: (typeof left)[number]) =>
    !ours.has(mac) && nicOf(host, mac).links.some(({ name }) => name === interfaceName(index));
  return left.filter(isBack).map((nic) => ({
    ...nic,
    originalName: nic.originalName ?? '',
    table: routingTable(nic.index),
    priority: rulePriority(nic.index),
    files: [],
  }));
}

/**
 * Returns the record for this MAC: from state.json, from before the NIC was detached, or from legacy leftovers on the
 * host. Undefined if the NIC is unmanaged.
 */
export function recordOf(
  mac: string,
  entry: RequestInterface | undefined,
  state: AgentState,
  host: Snapshot,
): NicRecord | undefined {
  const known = [...state.nics, ...reattachedNics(state, host)].find((nic) => nic.mac === mac);
  return known ?? inheritedRecord(mac, entry, host);
}

/**
 * Infers a record from leftovers: the legacy agent keeps no state. Evidence is a legacy file about the MAC, or a link
 * with a legacy name and a rule or route in the matching table. The requested addresses on such a link suffice, as
 * legacy clean-up leaves name and addresses. A hand-made `multinicN` has none.
 */
function inheritedRecord(mac: string, entry: RequestInterface | undefined, host: Snapshot) {
  const link = likelyLink(host, mac);
  const files = host.files.flatMap(({ own }) => (own?.mac === mac ? [own] : []));
  const index = (link && ourIndex(link.name)) ?? files[0]?.index;
  if (index === undefined) return undefined;
  const wanted = (entry?.addresses ?? []).map(ipOf);
  if (files.length === 0 && !(link && isInherited(host, link, index, wanted))) return undefined;
  const table = routingTable(index);
  const sources = inheritedSources(host, table);
  const filed = files.flatMap((file) => file.addresses.map(ipOf));
  const known = new Set([...filed, ...wanted, ...sources]);
  const onLink = presentAddresses(host, link).filter((cidr) => known.has(ipOf(cidr)));
  const gone = sources.filter((ip) => !onLink.some((cidr) => ipOf(cidr) === ip));
  return {
    mac,
    index,
    originalName: '',
    addresses: [...onLink, ...gone.map((ip) => `${ip}/32`)],
    table,
    priority: rulePriority(index),
    files: [],
  } satisfies NicRecord;
}

/** Returns the link with a managed name if twins share the MAC, so neither is ignored; a plan refuses twins. */
function likelyLink(host: Snapshot, mac: string): Link | undefined {
  const { links } = nicOf(host, mac);
  return links.find(({ name }) => ourIndex(name) !== undefined) ?? links[0];
}

function isInherited(
  host: Snapshot,
  link: Link,
  index: number,
  wanted: readonly string[],
): boolean {
  const table = routingTable(index);
  const sources = inheritedSources(host, table);
  const present = presentAddresses(host, link).map(ipOf);
  return (
    present.some((ip) => sources.includes(ip)) ||
    host.routes.some((route) => route.table === table && route.links.includes(link.name)) ||
    (present.length > 0 && present.every((ip) => wanted.includes(ip)))
  );
}

function ourIndex(name: string): number | undefined {
  const index = indexOfName(name);
  return index !== undefined && index <= maxIndex ? index : undefined;
}

function presentAddresses(host: Pick<Snapshot, 'addresses'>, link: Link | undefined): string[] {
  return host.addresses
    .filter(({ link: name, family }) => name === link?.name && family === 4)
    .map(({ cidr }) => cidr);
}

/** Returns sources in legacy rules `from IP lookup TABLE`: set with `ip`, for each address a NIC ever had. */
function inheritedSources(host: Pick<Snapshot, 'rules'>, table: number): string[] {
  return host.rules.filter((rule) => isInheritedRule(rule, table)).map(({ from }) => ipOf(from));
}

/** True for a legacy rule: IPv4, any priority, protocol none or boot. */
export function isInheritedRule(rule: Rule, table: number): boolean {
  const { family, from, opaque, protocol } = rule;
  const byHand = protocol === 0 || protocol === rt.protocolBoot;
  return family === 4 && !opaque && byHand && rule.table === table && isHost(from);
}

function isHost(from: string): boolean {
  return from !== 'all' && prefixOf(from) === 32;
}

/** Returns the kernel's route identity: a new route with this key replaces the old route. */
export function routeKey({ to, table, metric }: Pick<Route, 'to' | 'table' | 'metric'>): string {
  return `${to} table ${table} metric ${metric}`;
}

/** True if the route, on the NIC's link, is managed. */
export function isOwnRoute(route: Route, { tables, routes }: Belongings): boolean {
  return tables.includes(route.table) || routes.includes(routeKey(route));
}

/**
 * True if the rule leads from a NIC address to a NIC table. Priority, protocol and prefix differ between agent
 * generations, and after a reboot.
 */
export function isOwnRule({ opaque, from, table }: Rule, { rules }: Belongings): boolean {
  return !opaque && table !== undefined && rules.includes(ruleKey(ipOf(from), table));
}
