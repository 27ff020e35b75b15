import { networkOf } from '../../api/address.ts';
import { type Host, type KernelView, type Link, rt } from '../host.ts';
import { ipOf, prefixOf } from './ipv4.ts';
import type { LinkState, NicState } from './nic-state.ts';
import { type Belongings, isOwnRule } from './ownership.ts';

/** Enough of a NIC to find it and to know what of the host belongs to it. */
export interface KnownNic {
  readonly mac: string;
  readonly belongings: Belongings;
}

/** The state a NIC has now, as far as it is ours: what others have on its link is not in it. */
export function presentState(
  host: KernelView,
  link: Link | undefined,
  belongings: Belongings,
): NicState {
  const rules = host.rules
    .filter((rule) => isOwnRule(rule, belongings))
    .map(({ from, table = 0, priority, protocol }) => ({ from, table, priority, protocol }));
  return link ? { link: linkState(host, link, belongings), rules } : { rules };
}

function linkState(host: KernelView, link: Link, { tables, ips }: Belongings): LinkState {
  const addresses = host.addresses.filter((address) => address.link === link.name);
  const acceptRa = host.acceptRa.get(link.name);
  return {
    name: link.name,
    ...(link.altNames.length > 0 ? { altNames: link.altNames } : {}),
    mtu: link.mtu,
    up: link.up,
    ...(link.addressMode === undefined ? {} : { addressMode: link.addressMode }),
    ...(acceptRa === undefined ? {} : { acceptRa }),
    addresses: addresses
      .filter(({ family, cidr }) => family === 4 && ips.includes(ipOf(cidr)))
      .map((address) => ({
        cidr: address.cidr,
        ...(address.broadcast ? { broadcast: address.broadcast } : {}),
        noPrefixRoute: address.noPrefixRoute || !hasConnectedRoute(host, link, address.cidr),
        ...(address.temporary ? { temporary: true as const } : {}),
      })),
    linkLocal: addresses.filter(isLinkLocal).map(({ cidr }) => cidr),
    routes: host.routes
      .filter(({ links, family, protocol, table }) => {
        const made = family === 4 && protocol !== rt.protocolKernel;
        return made && links.includes(link.name) && tables.includes(table);
      })
      .map(({ to, via, table, protocol, scope, src, metric }) => ({
        to,
        ...(via ? { via } : {}),
        table,
        protocol,
        scope,
        ...(src ? { src } : {}),
        metric,
      })),
  };
}

/** Others may take away what the kernel made from an address, and leave the address. */
function hasConnectedRoute({ routes }: KernelView, link: Link, cidr: string): boolean {
  if (!link.up || prefixOf(cidr) === 32) return true;
  const subnet = networkOf(cidr);
  return routes.some(
    ({ to, table, links }) => table === rt.mainTable && to === subnet && links.includes(link.name),
  );
}

/** Whether the kernel made the address from the link itself (RFC 4862): it says nothing about who uses the link. */
export function isLinkLocal({ family, scope, cidr }: Host['addresses'][number]): boolean {
  return family === 6 && scope === rt.scopeLink && ipOf(cidr).startsWith('fe80:');
}
