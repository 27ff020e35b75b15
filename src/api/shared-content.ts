import { hash } from 'node:crypto';
import { networkOf } from './address.ts';
import { maxShared, maxSharedText } from './applied-record.ts';
import { canonicalJson } from './spec-hash.ts';

/**
 * Settings shared by a subnet's NICs. `<subnet>`: hash over gateway and routes, and over the MTU of a NIC without
 * network id; `<subnet>/routing`: routing mode, unless pbr; `<network id>`: hash over the MTU. A subnet's key is the
 * Neutron id, or the network without an id.
 */
export type SharedContent = Readonly<Record<string, string>>;

/** A shared setting: a hash by subnet or network, the routing mode of all subnets, or the consent to adoption. */
export interface Setting {
  /** Key in the record; `/routing`: routing mode; `/existingConfiguration`: consent to adoption. */
  readonly key: string;
  readonly value: string;
}

/** The consent to adopt existing configuration: a setting of all NICs of a node. */
export const adoption: Setting = { key: '/existingConfiguration', value: 'Adopt' };

const routingSuffix = '/routing';
const routingKey = routingSuffix;
const defaultRouting = 'pbr';

/** Unchecked fields in `spec.interfaces[]`. */
type Unchecked = Readonly<Record<string, unknown>>;

/**
 * Returns the shared settings in these `spec.interfaces` entries. Reads entries without a schema, because the
 * controller compares thousands of objects after an edit; an unreadable subnet has no settings.
 */
export function sharedOf(interfaces: readonly unknown[]): SharedContent {
  const contents = new Map<string, Set<string>>();
  const modes = new Map<string, Set<string>>();
  for (const entry of interfaces) {
    if (!isFields(entry)) continue;
    const main = mainSubnetOf(entry);
    const { routing } = entry;
    for (const [key, content] of settingsIn(entry, main)) add(contents, key, shortHash(content));
    if (main !== undefined && typeof routing === 'string') {
      add(modes, main, routing.slice(0, maxSharedText.value));
    }
  }
  const shared = [...contents].flatMap(([subnet, hashes]) => {
    const mode = joined(modes.get(subnet) ?? new Set());
    const isDefault = mode === undefined || mode === defaultRouting;
    return [
      [subnet, joined(hashes) ?? ''] as const,
      ...(isDefault ? [] : [[`${subnet}${routingSuffix}`, mode] as const]),
    ];
  });
  return Object.fromEntries(shared.slice(0, maxShared));
}

/**
 * Returns changed settings in the record's subnets, sorted: `<subnet>:<new hash>`, and `routing=<new mode>`
 * for any number of subnets. An added or removed subnet is no difference.
 */
export function changedShared(record: SharedContent, now: SharedContent): readonly string[] {
  return changedSettings(record, now).map(labelOf);
}

/** Returns changed settings in the record's subnets, sorted by label. */
export function changedSettings(record: SharedContent, now: SharedContent): readonly Setting[] {
  return unique(Object.keys(record).flatMap((subnet) => changesOf(subnet, record, now)));
}

/** Returns the changed settings of an entry's subnets. */
export function changedSettingsIn(
  entry: unknown,
  record: SharedContent,
  now: SharedContent,
): readonly Setting[] {
  return unique(subnetsOf(entry).flatMap((subnet) => changesOf(subnet, record, now)));
}

function changesOf(subnet: string, record: SharedContent, now: SharedContent): Setting[] {
  const [before, value] = [valueOf(record, subnet), valueOf(now, subnet)];
  if (subnet.endsWith(routingSuffix) || before === undefined || value === undefined) return [];
  const mode = routingIn(now, subnet);
  return [
    ...(value === before ? [] : [{ key: subnet, value }]),
    ...(mode === routingIn(record, subnet) ? [] : [{ key: routingKey, value: mode }]),
  ];
}

function unique(settings: readonly Setting[]): readonly Setting[] {
  const byLabel = new Map(settings.map((setting) => [labelOf(setting), setting]));
  return [...byLabel].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, setting]) => setting);
}

/** True for the key of the routing mode. */
export function isRouting(key: string): boolean {
  return key === routingKey;
}

/** True for the key of the consent to adoption. */
export function isAdoption(key: string): boolean {
  return key === adoption.key;
}

/** Returns the text of a setting, also hashed in revisions. */
export function labelOf({ key, value }: Setting): string {
  return isRouting(key) ? `routing=${value}` : `${key}:${value}`;
}

/** Returns all settings in a record. */
export function settingsOf(shared: SharedContent): readonly Setting[] {
  const subnets = Object.keys(shared).filter((key) => !key.endsWith(routingSuffix));
  return unique(
    subnets.flatMap((key) => [
      { key, value: valueOf(shared, key) ?? '' },
      { key: routingKey, value: routingIn(shared, key) },
    ]),
  );
}

/** Returns a setting's name for users; `entries`: NICs with the setting. */
export function settingName({ key, value }: Setting, entries: readonly unknown[]): string {
  if (isRouting(key)) return `routing mode ${value}`;
  if (isAdoption(key)) return `existingConfiguration: ${value}`;
  const isNetwork = entries.some((entry) => isFields(entry) && idIn(entry['networkId']) === key);
  return isNetwork ? `the MTU of network ${key}` : `subnet ${key}`;
}

/** Returns an entry's subnets, main subnet first. */
export function subnetsOf(entry: unknown): readonly string[] {
  return [...new Set(Object.keys(sharedOf([entry])).map(subnetIn))];
}

/** Lower-case MAC addresses: NICs configured by a run, and NICs left unchanged. */
export interface RunMacs {
  readonly requested: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
}

/**
 * Returns a run's record. While a NIC stays unchanged, the record keeps the subnets' former settings: otherwise the
 * next decision would take the change for applied.
 */
export function sharedAfter(
  interfaces: readonly unknown[],
  { requested, kept }: RunMacs,
  before: SharedContent | undefined,
): SharedContent {
  const now = sharedOf(entriesOf(interfaces, requested));
  if (kept.size === 0 || before === undefined) return now;
  const named = Object.keys(sharedOf(entriesOf(interfaces, kept))).map(subnetIn);
  const unchanged = new Set(named.filter((subnet) => valueOf(before, subnet) !== undefined));
  const fresh = Object.entries(now).filter(([key]) => !unchanged.has(subnetIn(key)));
  const old = Object.entries(before).filter(([key]) => {
    const subnet = subnetIn(key);
    return unchanged.has(subnet) || valueOf(now, subnet) === undefined;
  });
  return Object.fromEntries([...fresh, ...old].slice(0, maxShared));
}

function entriesOf(interfaces: readonly unknown[], macs: ReadonlySet<string>): readonly unknown[] {
  return interfaces.filter((entry) => macs.has(macOf(entry) ?? ''));
}

/** Returns an entry's MAC address in lower case. */
export function macOf(entry: unknown): string | undefined {
  const mac = isFields(entry) ? entry['macAddress'] : undefined;
  return typeof mac === 'string' ? mac.toLowerCase() : undefined;
}

/** Returns an entry's settings by subnet and network, main subnet first. */
function settingsIn(
  entry: Unchecked,
  main: string | undefined,
): readonly (readonly [string, unknown])[] {
  const network = idIn(entry['networkId']);
  // A Neutron network has one MTU for all subnets: its edit is one revision.
  const mtu = network === undefined ? entry['mtu'] : undefined;
  const listed = listIn(entry['subnets']).flatMap((further) => {
    const subnet = isFields(further) ? networkIn(further['cidr']) : undefined;
    return subnet === undefined ? [] : [[subnet, contentOf(further, mtu)] as const];
  });
  const further = new Set(listed.map(([subnet]) => subnet));
  const bare = furtherNetworks(entry).filter((subnet) => !further.has(subnet));
  return [
    ...(main === undefined ? [] : [[main, contentOf(entry, mtu)] as const]),
    ...listed,
    ...bare.map((subnet) => [subnet, {}] as const),
    ...(network === undefined ? [] : [[network, { mtu: entry['mtu'] }] as const]),
  ];
}

/**
 * Returns the networks of further addresses. Writers list a subnet only with a gateway or routes: the first gateway
 * must be a changed setting, not an added subnet.
 */
function furtherNetworks(entry: Unchecked): readonly string[] {
  const addresses = listIn(entry['addresses']);
  if (addresses.length < 2) return [];
  const main = mainNetworkOf(entry);
  const networks = new Set(addresses.flatMap((address) => networkIn(address) ?? []));
  return [...networks].filter((network) => network !== main);
}

function mainSubnetOf(entry: Unchecked): string | undefined {
  return idIn(entry['subnetId']) ?? mainNetworkOf(entry);
}

function mainNetworkOf({ cidr, addresses }: Unchecked): string | undefined {
  return networkIn(cidr) ?? networkIn(listIn(addresses)[0]);
}

function idIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.toLowerCase().slice(0, 64) : undefined;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** Returns the network for a text such as 10.0.0.10/24; undefined: no network. */
function networkIn(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > 64 || !text.includes('/')) return undefined;
  try {
    return networkOf(text);
  } catch {
    return undefined;
  }
}

/** Writers omit an absent gateway and absent routes, or write them empty. */
function contentOf(subnet: unknown, mtu: unknown) {
  const { gateway, routes } = isFields(subnet) ? subnet : {};
  const hasRoutes = Array.isArray(routes) && routes.length > 0;
  return { mtu, gateway: gateway || undefined, routes: hasRoutes ? routes : undefined };
}

function subnetIn(key: string): string {
  return key.endsWith(routingSuffix) ? key.slice(0, -routingSuffix.length) : key;
}

function routingIn(shared: SharedContent, subnet: string): string {
  return valueOf(shared, `${subnet}${routingSuffix}`) ?? defaultRouting;
}

/** Keys come from users: `__proto__` is a subnet without settings. */
function valueOf(shared: SharedContent, key: string): string | undefined {
  return Object.hasOwn(shared, key) ? shared[key] : undefined;
}

function add(values: Map<string, Set<string>>, subnet: string, value: string): void {
  const known = values.get(subnet);
  if (known) known.add(value);
  else values.set(subnet, new Set([value]));
}

/** Several NICs in a subnet count once: a further NIC with the same settings changes nothing. */
function joined(values: ReadonlySet<string>): string | undefined {
  const [first, ...others] = [...values].toSorted();
  return others.length === 0 ? first : shortHash([first, ...others]);
}

function shortHash(value: unknown): string {
  return hash('sha256', canonicalJson(value)).slice(0, 8);
}

function isFields(value: unknown): value is Unchecked {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
