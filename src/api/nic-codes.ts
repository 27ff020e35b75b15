/** Cases of a reason that a user interface explains differently; `code` in a NIC's result. */
export const nicCodes = [
  /** PathBypassed: a rule sends packets from the NIC's address by another link. */
  'RuleToOtherLink',
  /** PathBypassed: a rule drops packets from the NIC's address. */
  'RuleDropsPackets',
  /** PathBypassed: no foreign rule decides, but a route leads to another link. */
  'RouteToOtherLink',
  /** PathBypassed: no route leads from the NIC's address to the destination. */
  'NoRouteFromAddress',
  /** NodePathTaken: the Service address of the API server. */
  'ServiceByNic',
  /** NodePathTaken: an endpoint of the API server. */
  'EndpointByNic',
  /** NodePathTaken: the node's default gateway. */
  'GatewayByNic',
  /** VerifyFailed: the link has the flag NOARP. */
  'ArpOff',
  /** VerifyFailed: arp_ignore is 8. */
  'ArpIgnored',
  /** VerifyFailed: the local table has no entry for an address. */
  'LocalEntryMissing',
  /** NodeConnectivityLost: the Service address of the API server. */
  'ServiceUnreachable',
  /** NodeConnectivityLost: an endpoint of the API server. */
  'EndpointUnreachable',
  /** MACChanged: the current MAC differs from the permanent MAC. */
  'SendsWithOtherMac',
  /** PrimaryNIC: the link has an address of the Node object. */
  'NodeAddress',
  /** PrimaryNIC: the node's default route leaves by the link. */
  'NodeDefaultRoute',
  /** LeasedByHost: DHCP or a router advertisement set an address. */
  'LeasedAddress',
  /** LeasedByHost: DHCP or a router advertisement set a route. */
  'LeasedRoute',
  /** NICInUse: the link name has characters unreadable for `ip -batch`. */
  'NameUnsupported',
  /** NICInUse: the link is a member of a bridge, bond or similar. */
  'LinkHasMaster',
  /** NICInUse: a VLAN, macvlan or similar uses the link. */
  'LinkHasUpper',
  /** NICInUse: the link has a foreign address. */
  'ForeignAddress',
  /** NICInUse: the link has a foreign route. */
  'ForeignRoute',
  /** NICInUse: the link receives frames for a second MAC. */
  'ForeignReceiver',
  /** NICInUse: the name belongs to a foreign link. */
  'NameTaken',
  /** NICInUse, or InvalidEntry for a node address: the address is on a foreign link. */
  'AddressElsewhere',
  /** NICInUse: a file of the host configures the NIC. */
  'FileConfiguresNic',
  /** NICInUse or LeasedByHost: a pattern in a file of the host matches the NIC. */
  'FileMatchesNic',
  /** NICInUse or PersistFailed: a file cannot be read. */
  'FileUnreadable',
  /** PersistFailed: the path has a foreign file. */
  'FileUnmanaged',
  /** PersistFailed or FilesLeft: the folder of the files is missing. */
  'FolderMissing',
  /** InvalidEntry: the MTU is too small for IPv6. */
  'MtuTooSmall',
  /** InvalidEntry: the MTU exceeds the link's maximum. */
  'MtuTooLarge',
  /** InvalidEntry: the kernel has no IPv6. */
  'NoIPv6',
  /** TableInUse: the NIC's table has a foreign route. */
  'TableHasForeignRoute',
  /** TableInUse: a foreign rule uses the NIC's priority or table. */
  'PriorityTaken',
  /** SubnetOverlapsPrimary: an address of the Node object is in the subnet. */
  'OverlapsNodeAddress',
  /** SubnetOverlapsPrimary or SubnetOverlapsForeign: an address or route covers part of the subnet. */
  'OverlapsNetwork',
  /** SubnetOverlapsCluster: a network of Services or Pods. */
  'OverlapsClusterNetwork',
  /** RemovalHeld: the request does not name the NIC for removal. */
  'NotNamed',
  /** RemovalHeld: removal is permitted without a link, but a link has the MAC. */
  'LinkPresent',
  /** RemovalHeld: a NIC with a held removal has the index, name, address or file. */
  'HeldNicHas',
] as const;

export type NicCode = (typeof nicCodes)[number];

/** Case of a reason, with the values in the message. */
export interface Coded {
  readonly code: NicCode;
  /** Pairs `key=value`, separated by spaces. */
  readonly args: string;
}

/** Limit in bytes for `args`. */
const maxArgs = 60;

/** Returns a case with its values; values beyond the limit are left out. */
export function coded(code: NicCode, values: Readonly<Record<string, string | number>>): Coded {
  let args = '';
  for (const [key, value] of Object.entries(values)) {
    const longer = `${args}${args && ' '}${key}=${String(value).replaceAll(/\s+/g, '_')}`;
    if (Buffer.byteLength(longer) <= maxArgs) args = longer;
  }
  return { code, args };
}
