/** What was seen in OpenStack: the parts of ports, subnets, networks and servers that a plan is made of. */

export interface FixedIp {
  readonly subnetId: string;
  readonly ipAddress: string;
}

export interface Port {
  readonly id: string;
  readonly networkId: string;
  readonly macAddress: string;
  /** Neutron's word; '' when it gave none. */
  readonly status: string;
  /** Server the port is attached to. */
  readonly deviceId: string;
  /** Who plugged it: `compute:<zone>` for Nova; '' when Neutron gave none. */
  readonly deviceOwner: string;
  readonly createdAt: string | undefined;
  readonly fixedIps: readonly FixedIp[];
}

/** Whether Nova plugged the port into its server; other owners (routers, VIPs, trunks) only name the server as device. */
export function isPlugged({ deviceOwner }: Pick<Port, 'deviceOwner'>): boolean {
  return deviceOwner.startsWith('compute:');
}

export interface HostRoute {
  readonly destination: string;
  readonly nexthop: string;
}

export interface Subnet {
  readonly id: string;
  /** For people; absent = not told. */
  readonly name?: string;
  readonly cidr: string;
  readonly networkId: string;
  readonly ipVersion: 4 | 6;
  readonly gatewayIp: string | undefined;
  readonly hostRoutes: readonly HostRoute[];
}

export interface Network {
  readonly id: string;
  /** For people; absent = not told. */
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
 * One look at a cloud. Ports are complete for the servers that were asked about; anything that is not in the other
 * lists is unknown, not absent.
 */
export interface Observation {
  readonly servers: readonly Server[];
  /** Servers that Nova, asked by id, does not know. */
  readonly missingServers: readonly string[];
  readonly ports: readonly Port[];
  /** Ids of listed ports that could not be read: their NICs stay as they are. */
  readonly unreadablePorts?: readonly string[];
  readonly subnets: readonly Subnet[];
  readonly networks: readonly Network[];
}

/** What reading a missing port by id showed (design 3.2). */
export type MissingPortState =
  | 'stillAttached'
  /** The port is attached to another server, or to none. */
  | 'attachedElsewhere'
  /** The port is 404, and Nova's own record of the server has its MAC no more. */
  | 'portGone'
  /** The server is DELETED, or 404 like the port to an account that saw it before. */
  | 'serverDeleted'
  | 'unconfirmed';

export interface PortEvidence extends Question {
  readonly verdict: MissingPortState;
}

/** A delivered port to read: evidence for or against a removal. */
export interface Question {
  /** Undefined: the entry names none, and the port is looked for by its MAC. */
  readonly portId: string | undefined;
  readonly macAddress: string;
  readonly serverId: string;
}

/** What reading a server by id showed of one that is not among the selected ones. */
export interface ServerEvidence {
  readonly serverId: string;
  /**
   * `left`: it is there and nothing selects it. `deleted`: Nova says so. `selected`: it is only missing from the list.
   */
  readonly verdict: 'left' | 'deleted' | 'selected' | 'unconfirmed';
}
