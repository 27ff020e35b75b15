import { ipOf, networkOf } from '../../api/address.ts';
import { nicOf } from '../identity.ts';
import {
  type Address,
  type HostFile,
  isKernelMade,
  type KernelSnapshot,
  type Neighbour,
  type Route,
  type Rule,
  rt,
  type Settings,
  settingKeys,
} from '../snapshot.ts';
import { isLinkLocal, type RecordedNic } from './nic-state.ts';
import type { Operation } from './operation.ts';
import { isOwnRoute, isOwnRule } from './ownership.ts';
import { settingName } from './settings.ts';

/** Host state compared for foreign losses; the kernel part includes managed NICs. */
export interface ForeignView {
  readonly kernel: KernelSnapshot;
  /** Settings for links other than managed NICs, by link name. */
  readonly settings: ReadonlyMap<string, Settings>;
  /** Foreign files in folders the agent writes to. */
  readonly files: readonly HostFile[];
}

/** Foreign state present before a change and missing afterwards. */
export interface ForeignLoss {
  /** Description; names a managed NIC by MAC, because the link name may change. */
  readonly what: string;
  /** Operation restoring the loss on a managed NIC; absent if the agent does not know all attributes. */
  readonly again?: { readonly mac: string; readonly on: (dev: string) => Operation };
}

/** Returns foreign state lost between two views; `nics` are the managed NICs, changed or not. */
export function foreignLossesBetween(
  before: ForeignView,
  after: ForeignView,
  nics: readonly RecordedNic[],
): ForeignLoss[] {
  const had = new KernelView(before.kernel, nics);
  const has = new KernelView(after.kernel, nics);
  return [
    ...missing(had.links(has), has.links()),
    ...missing(had.addresses(has), has.addresses()),
    ...missing(had.routes(has), has.routes()),
    ...missing(had.neighbours(has), has.neighbours()),
    ...missing(had.rules(), has.rules()),
    ...changedSettings(before, after),
    ...changedFiles(before, after),
  ];
}

/** Returns the multiset difference `had − has`. */
function missing(had: Iterable<ForeignLoss>, has: Iterable<ForeignLoss>): ForeignLoss[] {
  const counts = new Map<string, number>();
  for (const { what } of has) counts.set(what, (counts.get(what) ?? 0) + 1);
  const gone: ForeignLoss[] = [];
  for (const item of had) {
    const left = counts.get(item.what) ?? 0;
    if (left === 0) gone.push(item);
    else counts.set(item.what, left - 1);
  }
  return gone;
}

/** Ignores missing values: a deleted link takes its settings along, and a link without IPv6 lacks IPv6 settings. */
function changedSettings(before: ForeignView, after: ForeignView): ForeignLoss[] {
  const all = (view: ForeignView) => [
    ...view.settings,
    ['default', view.kernel.defaultSettings] as const,
  ];
  const now = new Map(all(after));
  return all(before).flatMap(([name, settings]) => {
    const values = now.get(name) ?? {};
    const changed = settingKeys.filter(
      (key) => settings[key] !== undefined && ![undefined, settings[key]].includes(values[key]),
    );
    return changed.map((key) => ({ what: `${settingName(name, key)} = ${settings[key]}` }));
  });
}

function changedFiles(before: ForeignView, after: ForeignView): ForeignLoss[] {
  const now = new Map(after.files.map((file) => [file.path, file]));
  const gone = before.files.filter(({ path, text, mode }) => {
    const file = now.get(path);
    return file?.text !== text || file.mode !== mode;
  });
  return gone.map(({ path }) => ({ what: `file ${path}` }));
}

/** True for routes in the kernel's local table, which follows addresses, and for ICMP redirects, which expire. */
function isTransient({ table, protocol }: Route): boolean {
  return table === rt.localTable || protocol === protocolRedirect;
}

const protocolRedirect = 1;

function isOf(nic: RecordedNic | undefined, route: Route): boolean {
  return nic !== undefined && isOwnRoute(route, nic.belongings);
}

/** True for a connected route in main, made by the kernel or by NetworkManager in the kernel's place. */
function isConnected(route: Route): boolean {
  return route.table === rt.mainTable && isKernelMade(route);
}

/** The kernel accepts a gateway route only while the gateway is reachable. */
function gatewaysLast(routes: readonly Route[]): Route[] {
  return [...routes.filter(({ via }) => !via), ...routes.filter(({ via }) => via)];
}

/** Foreign state at risk from a managed NIC's change: on the NIC's link, or using the NIC's address. */
export type Entrusted = Pick<KernelSnapshot, 'addresses' | 'routes' | 'neighbours'>;

/** Returns the foreign state at risk from a change, for recovery after a crash. */
export function entrustedTo(nic: RecordedNic, kernel: KernelSnapshot): Entrusted {
  // A rules-only change risks no foreign state.
  if (nic.rulesOnly) return { addresses: [], routes: [], neighbours: [] };
  return new KernelView(kernel, [nic]).entrusted(nic);
}

/**
 * Returns the kernel state plus foreign state recorded before a crash and missing now; `links` maps old link names to
 * current names. Addresses and neighbours are only reported: their owner may have moved an address to another host, or
 * deleted a neighbour. A route is only reported if another route took its slot.
 */
export function withEntrusted(
  kernel: KernelSnapshot,
  { addresses, routes, neighbours }: Entrusted,
  links: (name: string) => string,
): KernelSnapshot {
  const there = new Set(kernel.addresses.map(({ link, cidr }) => `${link} ${cidr}`));
  const present = new Set(kernel.routes.map((route) => routeWords(route, route.links.join(' '))));
  const taken = new Set(kernel.routes.map(slotOf));
  const known = new Set(kernel.neighbours.map((entry) => neighbourWords(entry, entry.link)));
  return {
    ...kernel,
    addresses: [
      ...kernel.addresses,
      ...addresses
        .map((address) => ({ ...address, link: links(address.link), opaque: true }))
        .filter(({ link, cidr }) => !there.has(`${link} ${cidr}`)),
    ],
    routes: [
      ...kernel.routes,
      ...routes
        .map((route) => ({ ...route, links: route.links.map(links) }))
        .filter((route) => !present.has(routeWords(route, route.links.join(' '))))
        .map((route) => ({
          ...route,
          opaque: route.opaque || taken.has(slotOf(route)),
        })),
    ],
    neighbours: [
      ...kernel.neighbours,
      ...neighbours
        .map((entry) => ({ ...entry, link: links(entry.link), opaque: true }))
        .filter((entry) => !known.has(neighbourWords(entry, entry.link))),
    ],
  };
}

/** Returns the key for a kernel slot with room for one route. */
function slotOf({ to, table, metric }: Route): string {
  return `${to} ${table} ${metric}`;
}

/** Kernel snapshot combined with the list of managed NICs. */
class KernelView {
  readonly #kernel: KernelSnapshot;
  readonly #nics: readonly RecordedNic[];
  /** Managed NICs, by link name in this snapshot. */
  readonly #ours: ReadonlyMap<string, RecordedNic>;
  readonly #labels: ReadonlySet<string>;

  constructor(kernel: KernelSnapshot, nics: readonly RecordedNic[]) {
    this.#kernel = kernel;
    this.#nics = nics;
    const linked = nics.filter(({ rulesOnly }) => !rulesOnly);
    this.#ours = new Map(
      linked.flatMap((nic) => nicOf(kernel, nic.mac).links.map(({ name }) => [name, nic] as const)),
    );
    this.#labels = new Set(kernel.links.map(({ name }) => this.#label(name)));
  }

  #label(name: string): string {
    return this.#ours.get(name)?.mac ?? name;
  }

  /** True if the link still exists: state on a deleted link went with the link. */
  #has(label: string): boolean {
    return this.#labels.has(label);
  }

  *links(later: KernelView = this): Generator<ForeignLoss> {
    for (const { name, up } of this.#kernel.links) {
      if (this.#ours.has(name)) continue;
      yield { what: `link ${name}` };
      if (up && later.#has(name)) yield { what: `link ${name} up` };
    }
  }

  *addresses(later: KernelView = this): Generator<ForeignLoss> {
    for (const address of this.#kernel.addresses) {
      const { link, cidr } = address;
      const label = this.#label(link);
      const nic = this.#ours.get(link);
      if (this.#isOwn(address) || !later.#has(label)) continue;
      yield { what: `address ${cidr} of ${label}`, ...(nic ? addressAgain(nic, address) : {}) };
    }
  }

  /** True if the address is managed, or a kernel-made link-local address. */
  #isOwn(address: Address): boolean {
    const ips = this.#ours.get(address.link)?.belongings.ips ?? [];
    return isLinkLocal(address) || ips.includes(ipOf(address.cidr));
  }

  /** Yields all foreign routes; with `later`, only routes expected in the later snapshot. */
  *routes(later?: KernelView): Generator<ForeignLoss> {
    const stays = later ? this.#staysUntil(later) : () => true;
    for (const route of gatewaysLast(this.#kernel.routes)) {
      const { links } = route;
      const nic = this.#ours.get(links[0] ?? '');
      if (isTransient(route) || isOf(nic, route) || !stays(route)) continue;
      const what = routeWords(route, links.map((name) => this.#label(name)).join(' '));
      yield nic ? { what, ...routeAgain(nic, route) } : { what };
    }
  }

  /** Returns a predicate: true unless a deleted link or changed addresses explain the route's loss. */
  #staysUntil(later: KernelView): (route: Route) => boolean {
    const isMade = this.#madeFromAddresses();
    return (route) => {
      const { links } = route;
      const [first = ''] = links;
      return !isMade(route) && (links.length !== 1 || later.#has(this.#label(first)));
    };
  }

  /** Returns a predicate for routes the kernel derives from managed NICs' addresses. */
  #madeFromAddresses(): (route: Route) => boolean {
    const local = [...this.#ours.keys()].map((name) => `${name} fe80::/64`);
    const there = this.#kernel.addresses.filter(({ link }) => this.#ours.has(link));
    const made = new Set([
      ...local,
      ...there.map(({ link, cidr }) => `${link} ${networkOf(cidr)}`),
    ]);
    return (route) => isConnected(route) && made.has(`${route.links[0] ?? ''} ${route.to}`);
  }

  entrusted({ belongings }: RecordedNic): Entrusted {
    const isMade = this.#madeFromAddresses();
    const isOn = (name: string): boolean => this.#ours.has(name);
    return {
      addresses: this.#kernel.addresses.filter((entry) => isOn(entry.link) && !this.#isOwn(entry)),
      routes: this.#kernel.routes.filter((route) => {
        const { links, src } = route;
        const isOwn = isOf(this.#ours.get(links[0] ?? ''), route);
        if (isTransient(route) || isOwn || isMade(route)) return false;
        return links.some(isOn) || (src !== undefined && belongings.ips.includes(src));
      }),
      neighbours: this.#kernel.neighbours.filter(({ link }) => isOn(link)),
    };
  }

  /** Yields neighbours on managed NICs: a NIC's change never deletes neighbours on other links. */
  *neighbours(later: KernelView = this): Generator<ForeignLoss> {
    for (const neighbour of this.#kernel.neighbours) {
      const nic = this.#ours.get(neighbour.link);
      if (!nic || !later.#has(nic.mac)) continue;
      yield { what: neighbourWords(neighbour, nic.mac), ...neighbourAgain(nic, neighbour) };
    }
  }

  *rules(): Generator<ForeignLoss> {
    for (const rule of this.#kernel.rules) {
      if (this.#nics.some(({ belongings }) => isOwnRule(rule, belongings))) continue;
      yield { what: ruleWords(rule) };
    }
  }
}

/** Skips expiring addresses: their DHCP client restores them. */
function addressAgain({ mac }: RecordedNic, address: Address): Pick<ForeignLoss, 'again'> {
  const { cidr, broadcast, noPrefixRoute, opaque, temporary, scope } = address;
  if (opaque || temporary || scope !== rt.scopeGlobal) return {};
  const same = { cidr, ...(broadcast ? { broadcast } : {}), noPrefixRoute };
  return { again: { mac, on: (dev) => ({ kind: 'address.add', dev, address: same }) } };
}

function routeAgain({ mac }: RecordedNic, route: Route): Pick<ForeignLoss, 'again'> {
  const { to, via, src, table, protocol, scope, metric, opaque, type, links } = route;
  if (opaque || type !== rt.unicast || links.length > 1) return {};
  const hop = { ...(via ? { via } : {}), ...(src ? { src } : {}) };
  const same = { to, ...hop, table, protocol, scope, metric };
  return { again: { mac, on: (dev) => ({ kind: 'route.set', dev, route: same }) } };
}

function neighbourAgain({ mac }: RecordedNic, neighbour: Neighbour): Pick<ForeignLoss, 'again'> {
  if (neighbour.opaque) return {};
  return { again: { mac, on: (dev) => ({ kind: 'neighbour.set', dev, neighbour }) } };
}

function neighbourWords({ ip, mac }: Neighbour, by: string): string {
  return `neighbour ${ip} lladdr ${mac} dev ${by}`;
}

function routeWords({ to, via, table, metric }: Route, by: string): string {
  const hop = `${via ? ` via ${via}` : ''}${by ? ` dev ${by}` : ''}`;
  return `route ${to}${hop} table ${table} metric ${metric}`;
}

function ruleWords({ family, priority, from, table, protocol }: Rule): string {
  const target = table === undefined ? '' : ` lookup ${table}`;
  return `rule ${priority} of IPv${family} from ${from}${target} proto ${protocol}`;
}
