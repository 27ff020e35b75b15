import type { Link, Snapshot } from './snapshot.ts';

/** Links of a host with one MAC: one link is the NIC; of two (twins) it is unknown which one is. */
export type NicLinks =
  | { readonly count: 'none'; readonly links: readonly [] }
  | { readonly count: 'one'; readonly link: Link; readonly links: readonly [Link] }
  | { readonly count: 'twins'; readonly links: readonly [Link, Link, ...Link[]] };

/** Finds the NIC with this MAC; the only place that decides which link a MAC names. */
export function nicOf(host: Pick<Snapshot, 'links'>, mac: string): NicLinks {
  const [link, twin, ...more] = host.links.filter((each) => each.mac === mac && isNic(each));
  if (!link) return { count: 'none', links: [] };
  if (!twin) return { count: 'one', link, links: [link] };
  return { count: 'twins', links: [link, twin, ...more] };
}

/**
 * A NIC's driver names no kind; a veth is a NIC of a node that is itself a container. Every other kind (bridge, bond, tun,
 * openvswitch, vlan, macvlan, dummy …) may be given the MAC of a NIC, with members or without, and never is one.
 */
function isNic({ kind }: Link): boolean {
  return kind === undefined || kind === 'veth';
}

/** Returns the one link with this MAC; undefined if there is none, or twins. */
export function linkOf(host: Pick<Snapshot, 'links'>, mac: string): Link | undefined {
  const found = nicOf(host, mac);
  return found.count === 'one' ? found.link : undefined;
}

/** Returns the text of a message about links that share a MAC. */
export function twinsText([first, second]: readonly Link[], mac: string): string {
  return `${first?.name} and ${second?.name} have the MAC ${mac}`;
}
