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
import { type Link, type Route, type Rule, rt, type Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord, Ownership } from '../state.ts';

/** What of the host belongs to one NIC of ours, old and new. */
export type Belongings = { readonly [Key in keyof Ownership]: Readonly<Ownership[Key]> };

/** What a NIC is given. */
interface Given {
  readonly addresses: readonly string[];
  readonly table: number;
  readonly routes?: readonly Pick<Route, 'to' | 'table' | 'metric'>[] | undefined;
}

/** Of a NIC of ours, what its rules are made of. */
export interface Ruled extends Given {
  readonly mac: string;
}

/** Keys of all that a NIC is given. */
export function keysOf({ addresses, table, routes = [] }: Given): Ownership {
  const ips = addresses.map(ipOf);
  return { tables: [table], ips, routes: routes.map(routeKey), rules: rulesFrom([table], ips) };
}

/** Keys of the rules that lead from these addresses to these tables. */
export function rulesFrom(tables: readonly number[], ips: readonly string[]): string[] {
  return tables.flatMap((table) => ips.map((ip) => ruleKey(ip, table)));
}

/** All that is in any of the lists, once. */
export function allOf(lists: readonly Belongings[]): Ownership {
  return {
    tables: [...new Set(lists.flatMap(({ tables }) => tables))],
    ips: [...new Set(lists.flatMap(({ ips }) => ips))],
    routes: [...new Set(lists.flatMap(({ routes }) => routes))],
    rules: [...new Set(lists.flatMap(({ rules }) => rules))],
  };
}

/** What was set for a NIC as state.json says; an earlier agent wrote down what follows from the request alone. */
export function listOf(record: NicRecord): Ownership {
  return record.owned ?? keysOf(record);
}

/**
 * What a NIC owns: what it was given by its record, and what the network manager holds of it, now or since the boot, which
 * it sets again whenever the carrier comes back.
 */
export function ownedBy(
  mac: string,
  record: NicRecord | undefined,
  host: Pick<Snapshot, 'held'>,
  others: readonly Ruled[] = [],
): Belongings {
  const held = host.held.filter((file) => file.mac === mac);
  const belongings = allOf([
    ...(record ? [listOf(record)] : []),
    ...(record?.boot ? [keysOf({ ...record.boot, table: record.table })] : []),
    ...held.map((nic) => keysOf({ ...nic, table: routingTable(nic.index) })),
  ]);
  return withoutReassignedRules(mac, belongings, others);
}

/**
 * What belongs to the NIC but for the rules that others of these NICs have by now: they were given the number and the address of
 * this one.
 */
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

/** What the network manager has held of the NIC since the boot. */
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
 * The state in which each record says what the network manager holds of its NIC by now: netplan may have been told of our
 * files since the boot.
 */
export function withGeneratedConfig(state: AgentState, host: Pick<Snapshot, 'held'>): AgentState {
  const nics = state.nics.map((nic) =>
    nic.boot ? { ...nic, boot: { ...nic.boot, ...generatedConfigOf(nic.mac, nic, host) } } : nic,
  );
  return { ...state, nics };
}

/**
 * NICs that have left since the boot and are back under our name: what netplan made for udev and networkd lasts until the
 * next one, and they name a NIC that is plugged and set it up by that.
 */
export function returned({ nics, left = [] }: AgentState, host: Snapshot): NicRecord[] {
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
 * What is known to be ours of the NIC with this MAC: the record of state.json, what it was before it left, or else what an
 * earlier generation left behind on the host; undefined when nothing of the NIC is ours.
 */
export function recordOf(
  mac: string,
  entry: RequestInterface | undefined,
  state: AgentState,
  host: Snapshot,
): NicRecord | undefined {
  const known = [...state.nics, ...returned(state, host)].find((nic) => nic.mac === mac);
  return known ?? inheritedRecord(mac, entry, host);
}

/**
 * The deployed agent keeps no state. A NIC is its work when one of its files is about the MAC, or when the link has one
 * of its names and with it a rule or a route of the table that goes with the name, or just the addresses that are asked
 * for now (its clean-up leaves name and address). A hand-made `multinicN` has none of these.
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

/** Of twins, which a plan refuses, the one with a name of ours: neither is ignored. */
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

function presentAddresses(host: Snapshot, link: Link | undefined): string[] {
  return host.addresses
    .filter(({ link: name, family }) => name === link?.name && family === 4)
    .map(({ cidr }) => cidr);
}

/** Sources of the deployed agent's rules: `from IP lookup TABLE`, by hand of `ip`, one per address a NIC ever had. */
function inheritedSources(host: Snapshot, table: number): string[] {
  return host.rules.filter((rule) => isInheritedRule(rule, table)).map(({ from }) => ipOf(from));
}

/** A rule as the deployed agent makes them: of IPv4, at any priority and without a protocol. */
export function isInheritedRule(rule: Rule, table: number): boolean {
  const { family, from, opaque, protocol } = rule;
  const byHand = protocol === 0 || protocol === rt.protocolBoot;
  return family === 4 && !opaque && byHand && rule.table === table && isHost(from);
}

function isHost(from: string): boolean {
  return from !== 'all' && prefixOf(from) === 32;
}

/** What the kernel takes for the same route: a new one with this key replaces the old one. */
export function routeKey({ to, table, metric }: Pick<Route, 'to' | 'table' | 'metric'>): string {
  return `${to} table ${table} metric ${metric}`;
}

/** Whether the route, of a link of the NIC, is ours. */
export function isOwnRoute(route: Route, { tables, routes }: Belongings): boolean {
  return tables.includes(route.table) || routes.includes(routeKey(route));
}

/**
 * Whether the rule is ours: it sends one of the NIC's addresses to a table of the NIC's. Its priority, protocol and prefix differ
 * between generations, and after a reboot from their files.
 */
export function isOwnRule({ opaque, from, table }: Rule, { rules }: Belongings): boolean {
  return !opaque && table !== undefined && rules.includes(ruleKey(ipOf(from), table));
}
