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

/** What others have on a host, and with it what is ours. */
export interface ForeignView {
  readonly kernel: KernelSnapshot;
  /** Settings of NICs that are not ours, by link name. */
  readonly settings: ReadonlyMap<string, Settings>;
  /** Files of others in the folders that the agent writes to. */
  readonly files: readonly HostFile[];
}

/** Something of others that was there before a change and is not after it. */
export interface ForeignLoss {
  /** In words that call a NIC of ours by its MAC, as its name changes too. */
  readonly what: string;
  /** What makes it again on a NIC of ours; only where the agent knows all of it. */
  readonly again?: { readonly mac: string; readonly on: (dev: string) => Operation };
}

/** What others had and have no more; `nics` are ours, changed or not. */
export function foreignLossesBetween(
  before: ForeignView,
  after: ForeignView,
  nics: readonly RecordedNic[],
): ForeignLoss[] {
  const had = new Sight(before.kernel, nics);
  const has = new Sight(after.kernel, nics);
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

/** Those of `had` that `has` has not; what is there twice counts twice. */
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

/** A link that is gone took its settings along; those that it did not have, as one without IPv6, nobody has lost. */
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

/** The kernel's table goes with the addresses, which tell of it; and what a router says holds for a while. */
function isTransient({ table, protocol }: Route): boolean {
  return table === localTable || protocol === protocolRedirect;
}

const localTable = 255;
const protocolRedirect = 1;

function isOf(nic: RecordedNic | undefined, route: Route): boolean {
  return nic !== undefined && isOwnRoute(route, nic.belongings);
}

/** As the kernel makes it from an address, or NetworkManager in its place. */
function isConnected(route: Route): boolean {
  return route.table === rt.mainTable && isKernelMade(route);
}

/** A gateway has to be in reach before a route is set that leads to it. */
function gatewaysLast(routes: readonly Route[]): Route[] {
  return [...routes.filter(({ via }) => !via), ...routes.filter(({ via }) => via)];
}

/** What others have that goes through what is done to a NIC of ours: on its link, or by an address of it. */
export type Entrusted = Pick<KernelSnapshot, 'addresses' | 'routes' | 'neighbours'>;

/** What others entrust to a NIC that is about to be changed, for whoever ends the change after a crash. */
export function entrustedTo(nic: RecordedNic, kernel: KernelSnapshot): Entrusted {
  // Nothing goes with rules.
  if (nic.rulesOnly) return { addresses: [], routes: [], neighbours: [] };
  return new Sight(kernel, [nic]).entrusted(nic);
}

/**
 * The kernel as it would be with all that others had before a crash, as far as it is not there; `links` calls links by their
 * names of now. Addresses and neighbours are only reported: their owner may have moved an address to another host since, or
 * deleted a neighbour that is gone. So is a route in whose place there is another one.
 */
export function withEntrusted(
  kernel: KernelSnapshot,
  { addresses, routes, neighbours }: Entrusted,
  links: (name: string) => string,
): KernelSnapshot {
  const there = new Set(kernel.addresses.map(({ link, cidr }) => `${link} ${cidr}`));
  const present = new Set(kernel.routes.map((route) => routeWords(route, route.links.join(' '))));
  const taken = new Set(kernel.routes.map(placeOf));
  const known = new Set(kernel.neighbours.map((one) => neighbourWords(one, one.link)));
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
          opaque: route.opaque || taken.has(placeOf(route)),
        })),
    ],
    neighbours: [
      ...kernel.neighbours,
      ...neighbours
        .map((one) => ({ ...one, link: links(one.link), opaque: true }))
        .filter((one) => !known.has(neighbourWords(one, one.link))),
    ],
  };
}

/** Where a kernel has room for one route. */
function placeOf({ to, table, metric }: Route): string {
  return `${to} ${table} ${metric}`;
}

/** A look at the kernel by somebody who knows which NICs are ours. */
class Sight {
  readonly #kernel: KernelSnapshot;
  readonly #nics: readonly RecordedNic[];
  /** Our NICs, by the name that their link has in this look. */
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

  /** Whether the link is there: what was on one that went has gone with it. */
  #has(label: string): boolean {
    return this.#labels.has(label);
  }

  *links(later: Sight = this): Generator<ForeignLoss> {
    for (const { name, up } of this.#kernel.links) {
      if (this.#ours.has(name)) continue;
      yield { what: `link ${name}` };
      if (up && later.#has(name)) yield { what: `link ${name} up` };
    }
  }

  *addresses(later: Sight = this): Generator<ForeignLoss> {
    for (const address of this.#kernel.addresses) {
      const { link, cidr } = address;
      const label = this.#label(link);
      const nic = this.#ours.get(link);
      if (this.#isOwn(address) || !later.#has(label)) continue;
      yield { what: `address ${cidr} of ${label}`, ...(nic ? addressAgain(nic, address) : {}) };
    }
  }

  /** Whether it is ours, or the kernel's own. */
  #isOwn(address: Address): boolean {
    const ips = this.#ours.get(address.link)?.belongings.ips ?? [];
    return isLinkLocal(address) || ips.includes(ipOf(address.cidr));
  }

  /** Without `later` all that are there, else those that would still be there then. */
  *routes(later?: Sight): Generator<ForeignLoss> {
    const stays = later ? this.#staysUntil(later) : () => true;
    for (const route of gatewaysLast(this.#kernel.routes)) {
      const { links } = route;
      const nic = this.#ours.get(links[0] ?? '');
      if (isTransient(route) || isOf(nic, route) || !stays(route)) continue;
      const what = routeWords(route, links.map((name) => this.#label(name)).join(' '));
      yield nic ? { what, ...routeAgain(nic, route) } : { what };
    }
  }

  /** Tells routes that go with their link, or with the addresses that they are made from. */
  #staysUntil(later: Sight): (route: Route) => boolean {
    const isMade = this.#madeFromAddresses();
    return (route) => {
      const { links } = route;
      const [first = ''] = links;
      return !isMade(route) && (links.length !== 1 || later.#has(this.#label(first)));
    };
  }

  /** Tells routes that the kernel makes from the addresses of our NICs. */
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
      addresses: this.#kernel.addresses.filter((one) => isOn(one.link) && !this.#isOwn(one)),
      routes: this.#kernel.routes.filter((route) => {
        const { links, src } = route;
        const isOwn = isOf(this.#ours.get(links[0] ?? ''), route);
        if (isTransient(route) || isOwn || isMade(route)) return false;
        return links.some(isOn) || (src !== undefined && belongings.ips.includes(src));
      }),
      neighbours: this.#kernel.neighbours.filter(({ link }) => isOn(link)),
    };
  }

  /** Those on NICs of ours: nothing that is done to a NIC takes the neighbours of another link. */
  *neighbours(later: Sight = this): Generator<ForeignLoss> {
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

/** One that will expire is given back by whoever leased it. */
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
