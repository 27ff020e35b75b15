import { type Link, rt } from '../../host.ts';
import { ipOf } from '../ipv4.ts';
import {
  isDefault,
  mayLeaveBy,
  nodeAddressOf,
  type Refusal,
  refusal,
  type Site,
  type TouchedNic,
} from './refusal.ts';

/** `ip -batch` splits lines at spaces and quotes, and a setting's path at slashes. */
export function strangeName({ link: { name } }: TouchedNic): Refusal | undefined {
  if (/^[\w.@+-]+$/.test(name)) return undefined;
  return refusal('NICInUse', `the link's name ${JSON.stringify(name)} has unusual characters`);
}

export function nodeAddress({ link }: TouchedNic, site: Site): Refusal | undefined {
  const ip = nodeAddressOf(link, site);
  return ip === undefined
    ? undefined
    : refusal('PrimaryNIC', `${link.name} has the node's address ${ip}`);
}

/**
 * The host's own network manager took a plugged NIC by its file for every NIC, address, default route and all. That does
 * not make it the primary one: another link is the node's way out.
 */
export function leased({ link, owned }: TouchedNic, site: Site): Refusal | undefined {
  const { host } = site;
  const address = host.addresses.find(
    ({ link: on, family, temporary, cidr }) =>
      on === link.name && family === 4 && temporary && !owned.ips.includes(ipOf(cidr)),
  );
  const route = host.routes.find(
    ({ links, protocol }) => protocol === rt.protocolDhcp && links.includes(link.name),
  );
  const what = address ? `the address ${address.cidr}` : route && `a route to ${route.to}`;
  if (!what || isPrimary(link, site)) return undefined;
  return refusal('LeasedByHost', `the host's DHCP gave ${link.name} ${what}`);
}

/** Whether it has the node's address, or no other link has a default route of main that the kernel would rather use. */
function isPrimary(link: Link, site: Site): boolean {
  const defaults = site.host.routes.filter(
    (route) => isDefault(route) && route.table === rt.mainTable && route.family === 4,
  );
  const metrics = defaults
    .filter(({ links }) => links.includes(link.name))
    .map(({ metric }) => metric);
  const own = Math.min(...metrics);
  const others = defaults.filter(({ links }) => !links.includes(link.name));
  if (nodeAddressOf(link, site) !== undefined) return true;
  return metrics.length > 0 && !others.some(({ metric }) => metric < own);
}

export function defaultRoute({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const route = host.routes.find(
    (item) => isDefault(item) && mayLeaveBy(item, link) && !owned.tables.includes(item.table),
  );
  if (!route) return undefined;
  const has = route.anyLink ? 'may be in the nexthop group of the' : 'has a';
  return refusal('PrimaryNIC', `${link.name} ${has} default route in table ${route.table}`);
}
