import { ipOf, plainForm } from '../api/address.ts';
import { type KernelSnapshot, type Link, type Route, rt } from './snapshot.ts';

/** True for a unicast default route. */
export function isDefault({ to, type }: Route): boolean {
  return to.endsWith('/0') && type === rt.unicast;
}

/** Node object addresses, and the kernel state to find them in. */
export interface NodeAddresses {
  readonly protectedAddresses: readonly string[];
  readonly host: Pick<KernelSnapshot, 'addresses'>;
}

/** Returns the link's Node object address; undefined if none. */
export function nodeAddressOf(
  link: Pick<Link, 'name'>,
  { host, protectedAddresses }: NodeAddresses,
): string | undefined {
  // The kernel and Kubernetes shorten IPv6 addresses differently.
  const nodes = new Set(protectedAddresses.map(plainForm));
  const own = host.addresses.filter((item) => item.link === link.name);
  return own.map(({ cidr }) => plainForm(ipOf(cidr))).find((ip) => nodes.has(ip));
}

/**
 * True if the link has a Node address. Without such a link, the kernel's preferred default route in main decides: a
 * second lease may have a default route with equal metric.
 */
export function isPrimary(
  link: Pick<Link, 'name'>,
  site: NodeAddresses & { readonly host: Pick<KernelSnapshot, 'routes'> },
): boolean {
  const nodes = addressedLinks(site);
  return nodes.size > 0 ? nodes.has(link.name) : hasBestDefault(link, site.host);
}

/** Returns the names of the links with a Node address. */
function addressedLinks({ host, protectedAddresses }: NodeAddresses): ReadonlySet<string> {
  const nodes = new Set(protectedAddresses.map(plainForm));
  const own = host.addresses.filter(({ cidr }) => nodes.has(plainForm(ipOf(cidr))));
  return new Set(own.map(({ link }) => link));
}

function hasBestDefault({ name }: Pick<Link, 'name'>, host: Pick<KernelSnapshot, 'routes'>) {
  const defaultRoutes = host.routes.filter(
    (item) => isDefault(item) && item.table === rt.mainTable,
  );
  const four = defaultRoutes.filter(({ family }) => family === 4);
  const defaults = four.length > 0 ? four : defaultRoutes;
  const metrics = defaults.filter(({ links }) => links.includes(name)).map(({ metric }) => metric);
  const own = Math.min(...metrics);
  const others = defaults.filter(({ links }) => !links.includes(name));
  return metrics.length > 0 && !others.some(({ metric }) => metric < own);
}

/** True if the node keeps a default route in main without this route: for the same family, or for IPv4. */
export function hasOtherDefault(
  { routes }: Pick<KernelSnapshot, 'routes'>,
  { links, family }: Route,
): boolean {
  return routes.some(
    (other) =>
      isDefault(other) &&
      other.table === rt.mainTable &&
      (other.family === family || other.family === 4) &&
      !other.links.some((name) => links.includes(name)),
  );
}

/** True if the node would lose its last default route in main with this link's routes. */
export function hasOnlyDefault(
  { name }: Pick<Link, 'name'>,
  host: Pick<KernelSnapshot, 'routes'>,
): boolean {
  return host.routes.some(
    (route) =>
      isDefault(route) &&
      route.table === rt.mainTable &&
      route.links.includes(name) &&
      !hasOtherDefault(host, route),
  );
}

/** Returns the node's own links: those with a Node address, else those with the preferred default route. */
export function ownLinks(
  host: Pick<KernelSnapshot, 'links' | 'addresses' | 'routes'>,
  protectedAddresses: readonly string[],
): Link[] {
  return host.links.filter((link) => isPrimary(link, { host, protectedAddresses }));
}
