import * as z from 'zod';

interface FixedIp {
  readonly subnetId: string;
  readonly ipAddress: string;
}

export interface Port {
  readonly id: string;
  readonly name: string;
  readonly networkId: string;
  /** Lower case. */
  readonly macAddress: string;
  /** Neutron's port status in upper case: `ACTIVE`, `DOWN`, `BUILD`, `ERROR`, … */
  readonly status: string;
  /** Server id; '' = unattached. */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly createdAt: string | undefined;
  readonly revisionNumber: number;
  readonly projectId: string;
  readonly fixedIps: readonly FixedIp[];
  /** Unreadable field and reason: only `id` and `deviceId` are then valid. undefined: all fields are valid. */
  readonly flaw?: string;
}

interface HostRoute {
  readonly destination: string;
  readonly nexthop: string;
}

/** Port read by id, with a field missing from lists to keep large answers small. */
export interface PortRecord extends Port {
  readonly adminStateUp: boolean;
}

/** Search property for ports in a project. */
export type PortFilter =
  | { readonly macAddress: string }
  | { readonly ipAddress: string }
  | { readonly serverId: string };

export interface Subnet {
  readonly id: string;
  readonly name: string;
  readonly cidr: string;
  readonly networkId: string;
  readonly ipVersion: 4 | 6;
  readonly gatewayIp: string | undefined;
  readonly hostRoutes: readonly HostRoute[];
  readonly projectId: string;
}

export interface Network {
  readonly id: string;
  readonly name: string;
  readonly mtu: number | undefined;
}

export interface Server {
  readonly id: string;
  readonly name: string;
  /** Nova's server status: `ACTIVE`, `SHUTOFF`, `DELETED`, … */
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly projectId: string;
  /** Unreadable field and reason: only `id` is then valid. undefined: all fields are valid. */
  readonly flaw?: string;
}

/** Server with Nova's own NIC record. */
export interface ServerRecord extends Server {
  /**
   * MACs with at least one address, lower case, once per network; undefined when Nova returned no addresses.
   * Nova-compute fills this info cache from Neutron's events, which may be late. The `os-interface` list is no independent evidence: Nova
   * builds the list from Neutron with the caller's token (nova/api/openstack/compute/attach_interfaces.py).
   */
  readonly macAddresses: readonly string[] | undefined;
}

/** Result from a read by id: 404 is a result, not an error. */
export type Found<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'notFound' };

/** Neutron fields that Port needs. Requesting only these with `fields=` halves the cost per list. */
export const portFields = [
  'id',
  'name',
  'network_id',
  'mac_address',
  'status',
  'device_id',
  'device_owner',
  'created_at',
  'revision_number',
  'project_id',
  'fixed_ips',
] as const;

// Databases compare ids without case, so an id's spelling may differ from the stored id.
const id = z.string().min(1).toLowerCase();
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

const portWire = z.object({
  id,
  name: text,
  network_id: id,
  mac_address: z.string().min(1),
  status: z.string(),
  // Required: a missing device_id would otherwise read as unattached, which is removal evidence. Accounts without
  // this right get no port.
  device_id: z.string(),
  device_owner: text,
  created_at: z.string().nullish(),
  revision_number: z.number().int().default(0),
  project_id: text,
  fixed_ips: z.array(z.object({ subnet_id: id, ip_address: z.string().min(1) })),
});

export const portSchema = portWire.transform(portOf);

export const portRecordSchema = portWire
  .extend({ admin_state_up: z.boolean() })
  .transform((wire): PortRecord => ({ ...portOf(wire), adminStateUp: wire.admin_state_up }));

function portOf(wire: z.infer<typeof portWire>): Port {
  return {
    id: wire.id,
    name: wire.name,
    networkId: wire.network_id,
    macAddress: wire.mac_address.toLowerCase(),
    status: wire.status.toUpperCase(),
    deviceId: wire.device_id.toLowerCase(),
    deviceOwner: wire.device_owner,
    createdAt: wire.created_at ?? undefined,
    revisionNumber: wire.revision_number,
    projectId: wire.project_id,
    fixedIps: wire.fixed_ips.map((ip) => ({
      subnetId: ip.subnet_id,
      ipAddress: ip.ip_address,
    })),
  };
}

const identity = z.object({ id: id.catch(''), device_id: text.catch('') });

/** Returns the placeholder for a listed port with an unreadable field. */
export function flawedPort(raw: unknown, flaw: string): Port {
  const wire = identity.catch({ id: '', device_id: '' }).parse(raw);
  return {
    id: wire.id,
    name: '',
    networkId: '',
    macAddress: '',
    status: '',
    deviceId: wire.device_id.toLowerCase(),
    deviceOwner: '',
    createdAt: undefined,
    revisionNumber: 0,
    projectId: '',
    fixedIps: [],
    flaw,
  };
}

/** Returns the placeholder for a server with an unreadable field. */
export function flawedServer(raw: unknown, flaw: string): Server {
  const { id: own } = identity.catch({ id: '', device_id: '' }).parse(raw);
  return { id: own, name: '', status: '', metadata: {}, projectId: '', flaw };
}

export const subnetSchema = z
  .object({
    id,
    name: text,
    cidr: z.string().min(1),
    network_id: id,
    ip_version: z.union([z.literal(4), z.literal(6)]),
    gateway_ip: z.string().nullable(),
    host_routes: z.array(z.object({ destination: z.string(), nexthop: z.string() })),
    project_id: text,
  })
  .transform(
    (wire): Subnet => ({
      id: wire.id,
      name: wire.name,
      cidr: wire.cidr,
      networkId: wire.network_id,
      ipVersion: wire.ip_version,
      gatewayIp: wire.gateway_ip ?? undefined,
      hostRoutes: wire.host_routes,
      projectId: wire.project_id,
    }),
  );

export const networkSchema = z
  .object({ id, name: text, mtu: z.number().int().nonnegative().nullish() })
  // 0: the network has no own MTU (neutron-lib, api/definitions/network_mtu.py).
  .transform((wire): Network => ({ id: wire.id, name: wire.name, mtu: wire.mtu || undefined }));

const serverWire = z.object({
  id,
  name: text,
  status: z.string(),
  metadata: z.record(z.string(), z.string()),
  tenant_id: text,
});

export const serverSchema = serverWire.transform(serverOf);

export const tagsSchema = z.array(z.string());

/** Server in a list by tags; Nova lists `tags` since microversion 2.26. */
export const taggedServerSchema = serverWire
  .extend({ tags: tagsSchema.optional() })
  .transform((wire) => ({ server: serverOf(wire), tags: wire.tags }));

const addressesWire = z.record(
  z.string(),
  z.array(z.object({ 'OS-EXT-IPS-MAC:mac_addr': z.string().min(1).toLowerCase() })),
);

export const serverRecordSchema = serverWire
  .extend({ addresses: addressesWire.optional() })
  .transform(
    (wire): ServerRecord => ({ ...serverOf(wire), macAddresses: macAddressesOf(wire.addresses) }),
  );

function serverOf({
  tenant_id,
  id: own,
  name,
  status,
  metadata,
}: z.infer<typeof serverWire>): Server {
  return { id: own, name, status, metadata, projectId: tenant_id };
}

function macAddressesOf(addresses: z.infer<typeof addressesWire> | undefined) {
  if (addresses === undefined) return undefined;
  return Object.values(addresses).flatMap((network) => [
    ...new Set(network.map((address) => address['OS-EXT-IPS-MAC:mac_addr'])),
  ]);
}
