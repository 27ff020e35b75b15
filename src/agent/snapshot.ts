/** What the agent sees of a host, in domain terms: the edge in observe/ makes it, planning/ decides on it. */

export interface Link {
  readonly index: number;
  readonly name: string;
  readonly altNames: readonly string[];
  /** The NIC's own MAC, lower case: the permanent one where the driver knows it, as a bond overwrites the other. */
  readonly mac: string;
  readonly mtu: number;
  /** Largest MTU the driver takes, in bytes. */
  readonly maxMtu?: number;
  readonly up: boolean;
  /** Set on a link that is up and not running (IFF_RUNNING), such as one without a cable. */
  readonly noCarrier?: true;
  /** It answers no neighbour: NOARP of netdevice(7). */
  readonly noArp?: true;
  /** Driver kind of a virtual link: `veth`, `bridge`, `vlan` … */
  readonly kind?: string;
  /** Name of the link this one sits on (vlan, macvlan …); the peer of a veth is not one. */
  readonly lower?: string;
  readonly master?: string;
  /** How the kernel makes the IPv6 link-local address; absent without IPv6. */
  readonly addressMode?: string;
}

export interface Address {
  readonly link: string;
  readonly family: 4 | 6;
  /** `ip/prefix`. */
  readonly cidr: string;
  /** Numbers of rtnetlink(7): 0 global, 253 link, 254 host. */
  readonly scope: number;
  readonly broadcast?: string;
  readonly noPrefixRoute: boolean;
  /** It will expire: the host's own network manager leased it. */
  readonly temporary?: true;
  /** Duplicate address detection (RFC 4862) is not over, or found another owner. */
  readonly probe?: 'going on' | 'failed';
  /** It has a peer or a foreign label: not an address that this agent could put back. */
  readonly opaque: boolean;
}

export interface Route {
  readonly family: 4 | 6;
  /** Number of rtnetlink(7): 1 unicast, 6 blackhole … */
  readonly type: number;
  /** Network as `ip/prefix`, also for hosts and the default route. */
  readonly to: string;
  readonly via?: string;
  /** Set when every next hop is a gateway that `via` cannot state: of a multipath route, of IPv6 for IPv4, of a nexthop object. */
  readonly behindGateway?: true;
  /** Links it leaves by: none (blackhole), one, or several (multipath). */
  readonly links: readonly string[];
  /** Set when nobody tells by which links it leaves: each may be one of them. */
  readonly anyLink?: true;
  readonly table: number;
  /** Who made it: 2 the kernel, 3 `ip` by default, 4 static. */
  readonly protocol: number;
  readonly scope: number;
  readonly src?: string;
  readonly metric: number;
  /** It has attributes beyond these: not a route that this agent could put back. */
  readonly opaque: boolean;
}

/** A policy rule. */
export interface Rule {
  readonly family: 4 | 6;
  readonly priority: number;
  /** Source as `ip/prefix`, or `all`. */
  readonly from: string;
  readonly table?: number;
  readonly protocol: number;
  /** It selects or does more than `from … lookup …`. */
  readonly opaque: boolean;
}

/** As `ip` calls them, in its answers and in its arguments. */
export const neighbourFlags = ['router', 'extern_learn'] as const;
export type NeighbourFlag = (typeof neighbourFlags)[number];

/** A permanent neighbour entry (ip-neighbour(8)); those that the kernel resolves come by themselves. */
export interface Neighbour {
  readonly link: string;
  readonly ip: string;
  readonly mac: string;
  /** Number of rt_protos; 0 for none. */
  readonly protocol: number;
  readonly flags: readonly NeighbourFlag[];
  /** It has attributes beyond these: not an entry that this agent could put back. */
  readonly opaque: boolean;
}

export interface HostFile {
  /** Path as the host knows it. */
  readonly path: string;
  /** Empty of what is no file. */
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
  /** Why nobody knows what is in it, in an errno's word; others may be able to read it. */
  readonly unread?: string;
  /** Files that add to what it says, in the order in which they do. */
  readonly dropIns?: readonly HostFile[];
}

/** A file of the directory that the host's network is configured in, and what it is about. */
export interface ConfigFile extends HostFile {
  /** Set when this agent or one of its predecessors wrote the file. */
  readonly own?: OwnFile;
  /** MACs, lower case, of the NICs it configures. */
  readonly macs: readonly string[];
  /** Names of the NICs it configures without naming their MACs. */
  readonly names?: readonly string[];
  /** Shell patterns of names: every NIC of such a name is configured by DHCP. */
  readonly leases?: readonly string[];
  /** Shell patterns of names: every NIC of such a name is configured, without DHCP. */
  readonly patterns?: readonly string[];
  /** Patterns of names, and MACs, of the NICs that it leaves out of those. */
  readonly except?: readonly string[];
  /** Patterns of names that it is not about; a NIC may have another name that it is about. */
  readonly notNames?: readonly string[];
  /** The network manager made it by itself, for a NIC that nobody has a file for. */
  readonly generated?: true;
}

/** What a file is about, beside what is ours. */
export type Claims = Pick<
  ConfigFile,
  'macs' | 'names' | 'leases' | 'patterns' | 'except' | 'notNames' | 'generated'
>;

/** What a file of ours, of any generation, says about the one NIC in it. */
export interface OwnFile {
  readonly mac: string;
  readonly index: number;
  /** `ip/prefix`. */
  readonly addresses: readonly string[];
}

/** What the network manager holds of a NIC. */
export interface GeneratedConfig extends OwnFile {
  /** In tables that it shares with others. */
  readonly routes?: readonly Pick<Route, 'to' | 'table' | 'metric'>[];
}

/** Everything that the agent sees of a host at one moment; plans are made of it. */
export interface Snapshot {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
  readonly neighbours: readonly Neighbour[];
  /** By link name, of the links that were asked for. */
  readonly settings: ReadonlyMap<string, Settings>;
  /** What a new link has. */
  readonly defaultSettings: Settings;
  readonly files: readonly ConfigFile[];
  /** Folders of configuration files that the host lacks; absent if it lacks none. */
  readonly missingFolders?: readonly string[];
  /**
   * What was made for the network manager from files of ours, the last time it was: it sets that whenever the carrier of
   * the NIC comes, also of one that was unplugged meanwhile and is plugged again. And what it has held since the boot of NICs
   * that have left.
   */
  readonly held: readonly GeneratedConfig[];
}

/** The part of a host that changes with the kernel. */
export type KernelSnapshot = Omit<Snapshot, 'files' | 'held' | 'missingFolders'>;

/** Settings `net.FAMILY.conf.LINK.KEY` that the agent sets, as `FAMILY.KEY` (networking/ip-sysctl of the kernel). */
export const settingKeys = [
  'ipv6.accept_ra',
  'ipv6.disable_ipv6',
  'ipv4.rp_filter',
  'ipv4.arp_ignore',
  'ipv4.arp_announce',
] as const;
export type SettingKey = (typeof settingKeys)[number];
/** A link that is gone has none, and one without IPv6 none of that family. */
export type Settings = Readonly<Partial<Record<SettingKey, string>>>;

/** Numbers of rtnetlink(7) and rt_protos that the agent reads or writes. */
export const rt = {
  unicast: 1,
  mainTable: 254,
  defaultTable: 253,
  protocolKernel: 2,
  protocolBoot: 3,
  protocolStatic: 4,
  /** Router advertisements that the kernel took in. */
  protocolRa: 9,
  protocolDhcp: 16,
  scopeGlobal: 0,
  scopeLink: 253,
} as const;

/**
 * Whether the kernel made the route by itself, from an address or a link. It never gives a route a next hop; Cilium marks its own
 * routes as the kernel's on purpose (cilium/cilium#24288).
 */
export function isKernelMade({ protocol, via, links }: Route): boolean {
  return protocol === rt.protocolKernel && via === undefined && links.length < 2;
}

/** Links that sit on this one: vlans, macvlans and the like. */
export function upperLinks(host: Snapshot, name: string): Link[] {
  return host.links.filter((link) => link.lower === name);
}

/** The link that has or answers to this name. */
export function linkNamed(host: Snapshot, name: string): Link | undefined {
  return host.links.find((link) => link.name === name || link.altNames.includes(name));
}
