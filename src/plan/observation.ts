/** Observed OpenStack state: port, subnet, network and server fields that plans use. */

export interface FixedIp {
  readonly subnetId: string;
  readonly ipAddress: string;
}

export interface Port {
  readonly id: string;
  readonly networkId: string;
  readonly macAddress: string;
  /** Neutron's port status; '' when missing. */
  readonly status: string;
  /** Server with this port. */
  readonly deviceId: string;
  /** Owner that plugged the port: `compute:<zone>` for Nova; '' when missing. */
  readonly deviceOwner: string;
  readonly createdAt: string | undefined;
  readonly fixedIps: readonly FixedIp[];
}

/** True if Nova plugged the port. Other owners (routers, VIPs, trunks) only reference the server as device. */
export function isPlugged({ deviceOwner }: Pick<Port, 'deviceOwner'>): boolean {
  return deviceOwner.startsWith('compute:');
}

interface HostRoute {
  readonly destination: string;
  readonly nexthop: string;
}

export interface Subnet {
  readonly id: string;
  /** Display name; undefined: not read. */
  readonly name?: string;
  readonly cidr: string;
  readonly networkId: string;
  readonly ipVersion: 4 | 6;
  readonly gatewayIp: string | undefined;
  readonly hostRoutes: readonly HostRoute[];
}

export interface Network {
  readonly id: string;
  /** Display name; undefined: not read. */
  readonly name?: string;
  readonly mtu: number | undefined;
}

export interface Server {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * One snapshot from a cloud. Ports are complete for the requested servers; resources missing from the other lists are
 * unknown, not absent.
 */
export interface Observation {
  readonly servers: readonly Server[];
  /** Servers for which Nova answered 404 by id. */
  readonly missingServers: readonly string[];
  readonly ports: readonly Port[];
  /** Ids of listed but unreadable ports: their NICs stay unchanged. */
  readonly unreadablePorts?: readonly string[];
  readonly subnets: readonly Subnet[];
  readonly networks: readonly Network[];
}

/** Verdict from reading a missing port by id (design 3.2). */
export type MissingPortState =
  | 'stillAttached'
  /** The port is attached elsewhere or unattached. */
  | 'attachedElsewhere'
  /** The port is 404, and Nova's server record no longer contains its MAC. */
  | 'portGone'
  /** The server is DELETED, or both server and port are 404 for an account that saw the server before. */
  | 'serverDeleted'
  | 'unconfirmed';

export interface PortEvidence extends Question {
  readonly verdict: MissingPortState;
}

/** Delivered port whose removal needs evidence. */
export interface Question {
  /** undefined: the entry has no port id, and the port is searched by MAC. */
  readonly portId: string | undefined;
  readonly macAddress: string;
  readonly serverId: string;
}

/** Verdict from reading an unselected server by id. */
export interface ServerEvidence {
  readonly serverId: string;
  /**
   * `left`: exists and is not selected. `deleted`: deleted in Nova. `selected`: still selected, only missing from the
   * list. `softDeleted`: still selected, and hidden from lists until a restore.
   */
  readonly verdict: 'left' | 'deleted' | 'selected' | 'softDeleted' | 'unconfirmed';
}
