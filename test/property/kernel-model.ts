import { linkLocalOf } from '../../src/agent/planning/desired.ts';
import type { Change, Operation, SysctlWrite } from '../../src/agent/planning/operation.ts';
import { routeKey } from '../../src/agent/planning/ownership.ts';
import {
  type Address,
  type Link,
  linkNamed,
  type Route,
  rt,
  type Snapshot,
} from '../../src/agent/snapshot.ts';
import { familyOf, ipOf, networkOf } from '../../src/api/address.ts';
import { connectedRoutes } from '../fixtures/agent-samples.ts';

export interface ModelOptions {
  /** `net.ipv4.conf.*.promote_secondaries`. */
  readonly promote: boolean;
  /** udev makes a slot's name an alternative one as soon as the link has another. */
  readonly slotNames?: boolean;
}

/**
 * As much of the kernel as the agent relies on: what goes along when a link goes down or loses an address, and what is
 * refused. Throws where the kernel refuses.
 */
export function applied(host: Snapshot, change: Change, options: ModelOptions): Snapshot {
  const { sysctls, eviction, operations } = change;
  const all = [...(eviction ? [eviction] : []), ...operations];
  return all.reduce(
    (now, operation) => perform(now, operation, options),
    sysctls.reduce(write, host),
  );
}

function write(host: Snapshot, { dev, key, value }: SysctlWrite): Snapshot {
  const there = host.settings.get(dev);
  if (there?.[key] === undefined) throw new Error(`ENOENT: ${dev}`);
  return { ...host, settings: new Map([...host.settings, [dev, { ...there, [key]: value }]]) };
}

/** One operation. */
export function perform(host: Snapshot, operation: Operation, options: ModelOptions): Snapshot {
  if ('rule' in operation) return onRules(host, operation);
  const link = host.links.find(({ name }) => name === operation.dev);
  if (!link) throw new Error(`Cannot find device ${operation.dev}`);
  if ('route' in operation) return onRoutes(host, link, operation);
  if ('address' in operation) return onAddresses(host, link, operation, options);
  if ('neighbour' in operation) throw new Error('the model has no neighbours');
  return onLink(host, link, operation, options);
}

function onLink(
  host: Snapshot,
  link: Link,
  operation: Extract<Operation, { kind: `link.${string}` }>,
  options: ModelOptions,
): Snapshot {
  if ('to' in operation) return renamed(host, link, operation.to, options);
  if ('name' in operation) return withoutAltName(host, link, operation.name);
  if ('mtu' in operation) return resized(host, link, operation.mtu);
  if ('mode' in operation) {
    if (link.addressMode === undefined) throw new Error('Address family not supported by protocol');
    return withLink(host, { ...link, addressMode: operation.mode });
  }
  return operation.kind === 'link.up' ? up(host, link) : down(host, link);
}

function renamed(
  host: Snapshot,
  link: Link,
  to: string,
  { slotNames = false }: ModelOptions,
): Snapshot {
  if (to !== link.name && linkNamed(host, to) !== undefined) throw new Error('File exists');
  const altNames =
    slotNames && link.name.startsWith('ens') ? [...link.altNames, link.name] : link.altNames;
  const name = (old: string) => (old === link.name ? to : old);
  return {
    ...host,
    links: host.links.map((each) => (each === link ? { ...link, name: to, altNames } : each)),
    addresses: host.addresses.map((each) => ({ ...each, link: name(each.link) })),
    routes: host.routes.map((each) => ({ ...each, links: each.links.map(name) })),
    settings: new Map([...host.settings].map(([key, value]) => [name(key), value])),
  };
}

function withoutAltName(host: Snapshot, link: Link, name: string): Snapshot {
  if (!link.altNames.includes(name)) throw new Error('No such device');
  const altNames = link.altNames.filter((each) => each !== name);
  return withLink(host, { ...link, altNames });
}

/** Below 1280 bytes a link has no IPv6; above it again it has the defaults of a new one. */
function resized(host: Snapshot, link: Link, mtu: number): Snapshot {
  const { addressMode, ...bare } = link;
  const six = mtu >= 1280;
  const settings = new Map(host.settings);
  const { 'ipv6.accept_ra': _, 'ipv6.disable_ipv6': __, ...four } = settings.get(link.name) ?? {};
  const fresh = { 'ipv6.accept_ra': '1', 'ipv6.disable_ipv6': '0', ...host.defaultSettings };
  if (!six) settings.set(link.name, four);
  else if (addressMode === undefined) settings.set(link.name, { ...fresh, ...four });
  const next: Link = six ? { ...bare, mtu, addressMode: addressMode ?? 'eui64' } : { ...bare, mtu };
  const addresses = host.addresses.filter(
    (each) => six || each.link !== link.name || each.family === 4,
  );
  const begins = six && addressMode === undefined && link.up;
  const own = begins ? linkLocalsOf(next) : [];
  const routes = host.routes.filter(
    ({ links, family }) => six || family === 4 || !links.includes(link.name),
  );
  const left = { ...withLink(host, next), settings, routes, addresses: [...addresses, ...own] };
  return withConnected(left, link.index);
}

/** The host with the routes that the kernel makes from the addresses of a link. */
function withConnected(host: Snapshot, index: number): Snapshot {
  const link = host.links.find((each) => each.index === index);
  if (!link) return host;
  const others = host.routes.filter(
    ({ links, protocol }) => !(links.includes(link.name) && protocol === rt.protocolKernel),
  );
  return { ...host, routes: [...others, ...connectedRoutes(link, host.addresses)] };
}

/** What the kernel makes by itself when IPv6 comes up on a link. */
function linkLocalsOf({ name, mac, addressMode }: Link): Address[] {
  if (addressMode !== 'eui64') return [];
  const cidr = linkLocalOf(mac);
  return [{ link: name, family: 6, cidr, scope: 253, noPrefixRoute: false, opaque: false }];
}

function up(host: Snapshot, link: Link): Snapshot {
  const own = link.up ? [] : linkLocalsOf(link);
  const raised = withLink(host, { ...link, up: true });
  return withConnected({ ...raised, addresses: [...raised.addresses, ...own] }, link.index);
}

function down(host: Snapshot, link: Link): Snapshot {
  const lowered = withLink(host, { ...link, up: false });
  return {
    ...lowered,
    addresses: lowered.addresses.filter((each) => each.link !== link.name || each.family === 4),
    routes: lowered.routes.filter(({ links }) => !links.includes(link.name)),
  };
}

function onAddresses(
  host: Snapshot,
  link: Link,
  operation: Extract<Operation, { kind: `address.${string}` }>,
  { promote }: ModelOptions,
): Snapshot {
  const { address } = operation;
  const present = host.addresses.find(
    (each) => each.link === link.name && each.cidr === address.cidr,
  );
  if (operation.kind === 'address.add') {
    if (present) {
      const { temporary: _, ...lasting } = present;
      return {
        ...host,
        addresses: host.addresses.map((each) => (each === present ? lasting : each)),
      };
    }
    const family = familyOf(address.cidr);
    if (family === 6 && link.addressMode === undefined) throw new Error('Permission denied');
    const scope = address.cidr.startsWith('fe80:') ? 253 : 0;
    const added: Address = {
      link: link.name,
      family,
      scope,
      opaque: false,
      ...address,
    };
    return withConnected({ ...host, addresses: inKernelOrder(host, added) }, link.index);
  }
  if (!present) throw new Error('Cannot assign requested address');
  const gone = promote ? [present] : [present, ...secondaries(host, present)];
  const addresses = host.addresses.filter((each) => !gone.includes(each));
  const ips = new Set(gone.map(({ cidr }) => ipOf(cidr)));
  const bare = !addresses.some((each) => each.link === link.name && each.family === 4);
  // Routes of other tables outlive their source (since 6.1).
  const routes = host.routes.filter(({ links, src, table }) => {
    const orphan = table === rt.mainTable && ips.has(src ?? '');
    return !links.includes(link.name) || (!bare && !orphan);
  });
  const left = { ...host, addresses, routes: present.family === 4 ? routes : host.routes };
  return withConnected(left, link.index);
}

/** Secondary addresses come after all primary ones of their link. */
function inKernelOrder(host: Snapshot, added: Address): Address[] {
  const secondary = (each: Address) => each.family === 4 && !isPrimary(host, each);
  const at = host.addresses.findIndex((each) => each.link === added.link && secondary(each));
  const last = at < 0 || !isPrimary(host, added);
  return host.addresses.toSpliced(last ? host.addresses.length : at, 0, added);
}

function isPrimary({ addresses }: Snapshot, address: Address): boolean {
  const first = addresses.find(
    ({ link, family, cidr }) =>
      link === address.link && family === 4 && networkOf(cidr) === networkOf(address.cidr),
  );
  return first === undefined || first === address;
}

/** Addresses of the same subnet that came later; none if the address is itself one of them. */
function secondaries(host: Snapshot, address: Address): Address[] {
  if (address.family === 6) return [];
  const subnet = host.addresses.filter(
    (each) =>
      each.link === address.link &&
      each.family === 4 &&
      networkOf(each.cidr) === networkOf(address.cidr),
  );
  return subnet[0] === address ? subnet.slice(1) : [];
}

function onRoutes(
  host: Snapshot,
  link: Link,
  { kind, route }: Extract<Operation, { kind: `route.${string}` }>,
): Snapshot {
  const family = familyOf(route.to);
  const same = (each: Route) =>
    each.family === family &&
    routeKey(each) === routeKey(route) &&
    (family === 4 || each.links.includes(link.name));
  if (kind === 'route.delete') {
    if (!host.routes.some(same)) throw new Error('No such process');
    return { ...host, routes: host.routes.filter((each) => !same(each)) };
  }
  if (!link.up) throw new Error('Network is down');
  const { src } = route;
  const own = host.addresses
    .filter((each) => each.link === link.name)
    .map(({ cidr }) => ipOf(cidr));
  if (src && !own.includes(src)) throw new Error('Invalid argument');
  const added: Route = { family, type: 1, links: [link.name], opaque: false, ...route };
  return { ...host, routes: [...host.routes.filter((each) => !same(each)), added] };
}

function onRules(
  host: Snapshot,
  { kind, rule }: Extract<Operation, { kind: `rule.${string}` }>,
): Snapshot {
  const at = host.rules.findIndex(
    ({ from, table, priority, protocol }) =>
      from === rule.from &&
      table === rule.table &&
      priority === rule.priority &&
      (protocol === rule.protocol || (kind === 'rule.delete' && rule.protocol === 0)),
  );
  if (kind === 'rule.delete') {
    if (at < 0) throw new Error('No such file or directory');
    return { ...host, rules: host.rules.toSpliced(at, 1) };
  }
  if (at >= 0) throw new Error('File exists');
  return {
    ...host,
    rules: [...host.rules, { family: familyOf(rule.from), ...rule, opaque: false }],
  };
}

function withLink(host: Snapshot, link: Link): Snapshot {
  return { ...host, links: host.links.map((each) => (each.index === link.index ? link : each)) };
}
