import type { Host, Link } from '../host.ts';

/**
 * Links that have this MAC as their own. Bonds, bridges and teams borrow the MAC of a member, vlans and macvlans that of
 * the link they sit on: they are not NICs.
 */
export function linksWithMac(host: Pick<Host, 'links'>, mac: string): Link[] {
  const masters = new Set(host.links.map((link) => link.master));
  return host.links.filter(
    (link) => link.mac === mac && link.lower === undefined && !masters.has(link.name),
  );
}

/** Links that sit on this one: vlans, macvlans and the like. */
export function upperLinks(host: Host, name: string): Link[] {
  return host.links.filter((link) => link.lower === name);
}

/** The link that has or answers to this name. */
export function linkNamed(host: Host, name: string): Link | undefined {
  return host.links.find((link) => link.name === name || link.altNames.includes(name));
}
