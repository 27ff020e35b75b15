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

/** True if the link has the Node address, or the kernel's preferred default route in main. */
export function isPrimary(
  link: Pick<Link, 'name'>,
  site: NodeAddresses & { readonly host: Pick<KernelSnapshot, 'routes'> },
): boolean {
  const defaultRoutes = site.host.routes.filter(
    (item) => isDefault(item) && item.table === rt.mainTable,
  );
  const four = defaultRoutes.filter(({ family }) => family === 4);
  const defaults = four.length > 0 ? four : defaultRoutes;
  const metrics = defaults
    .filter(({ links }) => links.includes(link.name))
    .map(({ metric }) => metric);
  const own = Math.min(...metrics);
  const others = defaults.filter(({ links }) => !links.includes(link.name));
  if (nodeAddressOf(link, site) !== undefined) return true;
  return metrics.length > 0 && !others.some(({ metric }) => metric < own);
}

/** Returns the node's own links: those with a Node address, else those with the preferred default route. */
export function ownLinks(
  host: Pick<KernelSnapshot, 'links' | 'addresses' | 'routes'>,
  protectedAddresses: readonly string[],
): Link[] {
  const site = { host, protectedAddresses };
  const addressed = host.links.filter((link) => nodeAddressOf(link, site) !== undefined);
  return addressed.length > 0 ? addressed : host.links.filter((link) => isPrimary(link, site));
}
