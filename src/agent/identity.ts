import type { Link, Snapshot } from './snapshot.ts';

/** Host links with the same MAC: a single link is the NIC; with twins the NIC is unknown. */
export type NicLinks =
  | { readonly count: 'none'; readonly links: readonly [] }
  | { readonly count: 'one'; readonly link: Link; readonly links: readonly [Link] }
  | { readonly count: 'twins'; readonly links: readonly [Link, Link, ...Link[]] };

/** Finds the NIC with this MAC; the only function deciding which link a MAC names. */
export function nicOf(host: Pick<Snapshot, 'links'>, mac: string): NicLinks {
  const [link, twin, ...more] = host.links.filter((each) => each.mac === mac && isNic(each));
  if (!link) return { count: 'none', links: [] };
  if (!twin) return { count: 'one', link, links: [link] };
  return { count: 'twins', links: [link, twin, ...more] };
}

/**
 * True for a link without a driver kind, or for a veth, a container node's NIC. Every other kind (bridge, bond, tun,
 * openvswitch, vlan, macvlan, dummy …) may get a NIC's MAC, with members or without, and never is the NIC.
 */
function isNic({ kind }: Link): boolean {
  return kind === undefined || kind === 'veth';
}

/** Returns the only link with this MAC; undefined without a link, or with twins. */
export function linkOf(host: Pick<Snapshot, 'links'>, mac: string): Link | undefined {
  const found = nicOf(host, mac);
  return found.count === 'one' ? found.link : undefined;
}

/** Returns a message about links sharing a MAC. */
export function twinsText([first, second]: readonly Link[], mac: string): string {
  return `links ${first?.name} and ${second?.name} have the same MAC ${mac}`;
}
