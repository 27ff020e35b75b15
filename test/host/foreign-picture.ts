import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';

interface LinkShown {
  readonly ifname: string;
  readonly address: string;
  readonly master?: string;
  readonly mtu: number;
  readonly flags: readonly string[];
  readonly linkinfo?: { readonly info_kind?: string };
  readonly addr_info: readonly {
    readonly local: string;
    readonly prefixlen: number;
    readonly scope: string;
    readonly tentative?: boolean;
  }[];
}

/** NIC as shown by the kernel. */
export interface NicShown {
  readonly name: string;
  readonly up: boolean;
  readonly mtu: number;
  readonly master: string | undefined;
  /** `ip/prefix`, without link-local addresses. */
  readonly addresses: readonly string[];
}

export interface Picture {
  /** Links usable as the NIC, by MAC. */
  readonly nics: ReadonlyMap<string, readonly NicShown[]>;
  /** Host state, one line per object; NICs appear by MAC. */
  readonly lines: readonly string[];
  /** Rules as `from IP lookup TABLE`. */
  readonly rules: readonly string[];
  /** Tables and links with default routes. */
  readonly defaults: readonly string[];
}

/** Returns the host's kernel state; links with these MACs count as NICs only if of a NIC's kind. */
export async function pictureOf(host: NamespaceHost, macs: readonly string[]): Promise<Picture> {
  const [links, routes, rules, rules6, neighbours, children] = await Promise.all([
    host.ipJson('-d', 'addr', 'show') as Promise<LinkShown[]>,
    host.ipJson('-N', 'route', 'show', 'table', 'all') as Promise<RouteShown[]>,
    host.ipJson('-N', 'rule', 'show') as Promise<RuleShown[]>,
    host.ipJson('-N', '-6', 'rule', 'show') as Promise<RuleShown[]>,
    host.ipJson('neigh', 'show', 'nud', 'permanent') as Promise<NeighbourShown[]>,
    host.ip('-n', host.fabric, '-o', 'link', 'show', 'type', 'macvlan'),
  ]);
  const isNic = ({ linkinfo, address, ifname }: LinkShown) =>
    macs.includes(address) && linkinfo?.info_kind === 'veth' && !ifname.startsWith('fx');
  const label = new Map(
    links.map((link) => [link.ifname, isNic(link) ? link.address : link.ifname]),
  );
  const named = (name: string | undefined) => label.get(name ?? '') ?? name ?? '';
  const nics = new Map(
    macs.map((mac) => [mac, links.filter((link) => link.address === mac && isNic(link)).map(nic)]),
  );
  const lines = [
    ...links
      .filter((link) => !isNic(link))
      .map(({ ifname, flags, address }) => `link ${ifname} ${upOf(flags)} ${address}`),
    ...links.flatMap((link) =>
      addressesOf(link).map((cidr) => `address ${cidr} ${named(link.ifname)}`),
    ),
    ...routes.map(({ dst, dev, table }) => `route ${dst} ${named(dev)} ${table ?? 'main'}`),
    ...rules.map(
      ({ priority, src, srclen, table }) =>
        `rule ${priority} ${src}${srclen === undefined ? '' : `/${srclen}`} ${table}`,
    ),
    ...neighbours.map(({ dst, dev }) => `neighbour ${dst} ${named(dev)}`),
    ...[...children.matchAll(/^\d+: (\w+)@\S+ <(\S*)>/gm)].map(
      ([, name, flags = '']) => `child ${name} ${flags.includes('LOWER_UP') ? 'up' : 'down'}`,
    ),
  ];
  return {
    nics,
    lines,
    rules: [...rules, ...rules6].map(({ src, table }) => `from ${src} lookup ${table}`),
    defaults: routes
      .filter(({ dst }) => dst === 'default')
      .map(({ dev, table }) => `${dev} ${table ?? 'main'}`),
  };
}

interface RouteShown {
  readonly dst: string;
  readonly dev?: string;
  readonly table?: string;
}

interface RuleShown {
  readonly priority: number;
  readonly src: string;
  readonly srclen?: number;
  readonly table: string;
}

interface NeighbourShown {
  readonly dst: string;
  readonly dev: string;
}

const upOf = (flags: readonly string[]) => (flags.includes('UP') ? 'up' : 'down');

function nic(link: LinkShown): NicShown {
  const { ifname, flags, mtu, master } = link;
  return { name: ifname, up: flags.includes('UP'), mtu, master, addresses: addressesOf(link) };
}

function addressesOf({ addr_info }: LinkShown): string[] {
  return addr_info
    .filter(({ scope, tentative }) => scope !== 'link' && !tentative)
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
}
