/** Host snapshot in domain terms, read in observe/ and used in planning/. */

export interface Link {
  readonly index: number;
  readonly name: string;
  readonly altNames: readonly string[];
  /**
   * The NIC's own MAC, lower case: the permanent MAC if the driver reports it, as a bond overwrites the current MAC.
   */
  readonly mac: string;
  /** Set if the link sends with this MAC instead of its own. */
  readonly sendsAs?: string;
  readonly mtu: number;
  /** Largest MTU the driver accepts, in bytes. */
  readonly maxMtu?: number;
  readonly up: boolean;
  /** Set on a link in state up but not running (IFF_RUNNING), such as without a cable. */
  readonly noCarrier?: true;
  /** Set if the link answers no neighbours: NOARP in netdevice(7). */
  readonly noArp?: true;
  /** Driver kind for a virtual link: `veth`, `bridge`, `vlan` … */
  readonly kind?: string;
  /** Set on the end of a container's or VM's veth pair: a NIC only on a node whose own link is a veth. */
  readonly isPair?: true;
  /** Name of the lower link (vlan, macvlan …); a veth's peer does not count. */
  readonly lower?: string;
  readonly master?: string;
  /** The kernel's mode for making IPv6 link-local addresses; absent without IPv6. */
  readonly addressMode?: string;
}

export interface Address {
  readonly link: string;
  readonly family: 4 | 6;
  /** `ip/prefix`. */
  readonly cidr: string;
  /** rtnetlink(7) number: 0 global, 253 link, 254 host. */
  readonly scope: number;
  readonly broadcast?: string;
  readonly noPrefixRoute: boolean;
  /** Set if the address expires: the host's own network manager leased it. */
  readonly temporary?: true;
  /** Duplicate address detection (RFC 4862): running, or found another owner. */
  readonly probe?: 'going on' | 'failed';
  /** Set if the address has a peer or a foreign label: the agent could not restore it. */
  readonly opaque: boolean;
}

export interface Route {
  readonly family: 4 | 6;
  /** rtnetlink(7) number: 1 unicast, 6 blackhole … */
  readonly type: number;
  /** Network as `ip/prefix`, also for hosts and the default route. */
  readonly to: string;
  readonly via?: string;
  /**
   * Set if every next hop is a gateway `via` cannot express: multipath, an IPv6 gateway for IPv4, or a nexthop object.
   */
  readonly behindGateway?: true;
  /** Outgoing links: none (blackhole), one, or several (multipath). */
  readonly links: readonly string[];
  /** Set if the outgoing links are unknown: every link is possible. */
  readonly anyLink?: true;
  readonly table: number;
  /** Route origin: 2 kernel, 3 `ip` by default, 4 static. */
  readonly protocol: number;
  readonly scope: number;
  readonly src?: string;
  readonly metric: number;
  /** Set if the route has further attributes: the agent could not restore it. */
  readonly opaque: boolean;
}

/** Policy rule. */
export interface Rule {
  readonly family: 4 | 6;
  readonly priority: number;
  /** Source as `ip/prefix`, or `all`. */
  readonly from: string;
  readonly table?: number;
  readonly protocol: number;
  /** Set if the rule selects or does more than `from … lookup …`. */
  readonly opaque: boolean;
}

/** Flag names in `ip` output and arguments. */
export const neighbourFlags = ['router', 'extern_learn'] as const;
type NeighbourFlag = (typeof neighbourFlags)[number];

/** Permanent neighbour entry (ip-neighbour(8)); entries resolved by the kernel are left out. */
export interface Neighbour {
  readonly link: string;
  readonly ip: string;
  readonly mac: string;
  /** rt_protos number; 0 for none. */
  readonly protocol: number;
  readonly flags: readonly NeighbourFlag[];
  /** Set if the entry has further attributes: the agent could not restore it. */
  readonly opaque: boolean;
}

export interface HostFile {
  /** Path as seen on the host. */
  readonly path: string;
  /** File content; empty for anything but a file. */
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
  /** Errno name if the agent cannot read the content; other processes may be able to. */
  readonly unread?: string;
  /** `uid:gid`; absent for root. */
  readonly owner?: string;
  /** Drop-in files, in order of application. */
  readonly dropIns?: readonly HostFile[];
}

/** Network configuration file on the host, with the NICs inside. */
export interface ConfigFile extends HostFile {
  /** Set if this agent or a predecessor wrote the file. */
  readonly own?: OwnFile;
  /** MACs of configured NICs, lower case. */
  readonly macs: readonly string[];
  /** Names of NICs configured without a MAC. */
  readonly names?: readonly string[];
  /** Shell patterns: the file configures every NIC with a matching name by DHCP. */
  readonly leases?: readonly string[];
  /** Shell patterns: the file configures every NIC with a matching name, without DHCP. */
  readonly patterns?: readonly string[];
  /** Name patterns and MACs excluded from `leases` and `patterns`. */
  readonly except?: readonly string[];
  /** Name patterns the file excludes; another name of the same NIC may still match. */
  readonly notNames?: readonly string[];
  /** Set if the network manager generated the file for a NIC without a profile. */
  readonly generated?: true;
  /** A foreign file's stanzas about NICs; absent if unknown. */
  readonly stanzas?: readonly Stanza[];
  /** Path of the file this file extends: an ifcfg file's routes. */
  readonly partOf?: string;
  /** Names or ids of links below bonds, bridges, VLANs and virtual functions; absent: none. */
  readonly members?: readonly string[];
}

/** NIC configuration in a foreign file: a netplan definition, or the file's only profile. */
export interface Stanza {
  /** Stanza or profile, and the option with the addresses: `ethernets.ens4.dhcp4`, `[Network] DHCP` … */
  readonly section: string;
  /** Whether the stanza requests DHCP or router advertisements; absent if unknown. */
  readonly dhcp?: boolean;
  /** Absent if the stanza sets none. */
  readonly nameServers?: readonly string[];
  /** The stanza's NICs; absent: all NICs in the file. Names may be shell patterns. */
  readonly nics?: { readonly macs: readonly string[]; readonly names: readonly string[] };
  /** The definition's id in netplan, else the file name; absent if unknown. */
  readonly id?: string;
  /** First line in the file, from 1; absent if unknown. */
  readonly line?: number;
  /** Addresses, routes and rules in the stanza; absent if none. */
  readonly fixed?: FixedConfig;
  /** Priority among NetworkManager profiles for the same NIC; absent: not activated at boot, or another manager. */
  readonly priority?: number;
  /** Set if the stanza puts the NIC into a bond, bridge or VLAN, or configures such a link. */
  readonly upper?: true;
  /** Option that keeps the link down or unmanaged, such as `activation-mode`; absent: none. */
  readonly off?: string;
}

/** Configuration a stanza sets without DHCP. */
export interface FixedConfig {
  /** `ip/prefix`. */
  readonly addresses: readonly string[];
  readonly routes: readonly Pick<Route, 'to' | 'via' | 'table'>[];
  readonly rules: readonly { readonly from: string; readonly table: number }[];
}

/** Stanza for a malformed file. */
export const malformed: Stanza = { section: '(cannot be parsed)' };

/** Returns a stanza's field `nameServers`; empty without name servers. */
export function nameServersIn(servers: readonly string[]): Pick<Stanza, 'nameServers'> {
  const found = servers.filter((server) => server !== '');
  return found.length > 0 ? { nameServers: found } : {};
}

/** NICs a foreign file configures. */
export type Claims = Pick<
  ConfigFile,
  | 'macs'
  | 'names'
  | 'leases'
  | 'patterns'
  | 'except'
  | 'notNames'
  | 'generated'
  | 'partOf'
  | 'stanzas'
  | 'members'
>;

/** Content of a managed file, written by any generation, about a single NIC. */
export interface OwnFile {
  readonly mac: string;
  readonly index: number;
  /** `ip/prefix`. */
  readonly addresses: readonly string[];
  /** Set for a file known only by its profile's uuid, under another name than ours. */
  readonly renamed?: true;
}

/** Configuration the network manager holds for a NIC. */
interface GeneratedConfig extends OwnFile {
  /** Routes in tables shared with other software. */
  readonly routes?: readonly Pick<Route, 'to' | 'table' | 'metric'>[];
}

/** Link as the network manager knows it. */
export interface ManagedLink {
  /** File whose configuration the manager holds in memory for the link; for NetworkManager the uuid; absent: none. */
  readonly file?: string;
  /** Set if NetworkManager configures the link, by a profile. */
  readonly profile?: 'own' | 'foreign';
  /** Link names in the file as loaded; empty: any name. */
  readonly names: readonly string[];
  readonly nameServers: readonly string[];
}

/** Everything the agent reads from a host at one moment; input for plans. */
export interface Snapshot {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
  readonly neighbours: readonly Neighbour[];
  /** By link name, for requested links only. */
  readonly settings: ReadonlyMap<string, Settings>;
  /** Settings a new link gets. */
  readonly defaultSettings: Settings;
  readonly files: readonly ConfigFile[];
  /** Configuration folders missing on the host; absent if none is missing. */
  readonly missingFolders?: readonly string[];
  /** Links the network manager has configured since boot, by link index; absent: none. */
  readonly managedLinks?: ReadonlyMap<number, ManagedLink>;
  /**
   * Configuration last generated for the network manager from managed files. The manager sets it whenever the NIC's
   * carrier appears, also after a replug. Includes configuration held since boot for detached NICs.
   */
  readonly held: readonly GeneratedConfig[];
}

/** Kernel part of a snapshot. */
export type KernelSnapshot = Omit<Snapshot, 'files' | 'held' | 'missingFolders' | 'managedLinks'>;

/** Settings `net.FAMILY.conf.LINK.KEY` the agent sets, as `FAMILY.KEY` (networking/ip-sysctl in the kernel docs). */
export const settingKeys = [
  'ipv6.accept_ra',
  'ipv6.disable_ipv6',
  'ipv4.rp_filter',
  'ipv4.arp_ignore',
  'ipv4.arp_announce',
] as const;
export type SettingKey = (typeof settingKeys)[number];
/** Setting values; empty for a missing link, and without IPv6 keys on a link without IPv6. */
export type Settings = Readonly<Partial<Record<SettingKey, string>>>;

/** rtnetlink(7) and rt_protos numbers the agent reads or writes. */
export const rt = {
  unicast: 1,
  local: 2,
  mainTable: 254,
  localTable: 255,
  defaultTable: 253,
  protocolKernel: 2,
  protocolBoot: 3,
  protocolStatic: 4,
  /** Routes from router advertisements, set by the kernel. */
  protocolRa: 9,
  protocolDhcp: 16,
  scopeGlobal: 0,
  scopeLink: 253,
} as const;

/**
 * True if the kernel made the route by itself, from an address or a link. Kernel-made routes never have a next hop;
 * Cilium marks its own routes as protocol kernel on purpose (cilium/cilium#24288).
 */
export function isKernelMade({ protocol, via, links }: Route): boolean {
  return protocol === rt.protocolKernel && via === undefined && links.length < 2;
}

/** Returns upper links: vlans, macvlans and similar. */
export function upperLinks(host: Snapshot, name: string): Link[] {
  return host.links.filter((link) => link.lower === name);
}

/** Returns the link with this name or alternative name. */
export function linkNamed(host: Snapshot, name: string): Link | undefined {
  return host.links.find((link) => link.name === name || link.altNames.includes(name));
}
