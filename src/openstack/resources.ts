import * as z from 'zod';

export interface FixedIp {
  readonly subnetId: string;
  readonly ipAddress: string;
}

export interface Port {
  readonly id: string;
  readonly name: string;
  readonly networkId: string;
  /** Lower case. */
  readonly macAddress: string;
  /** `ACTIVE`, `DOWN`, `BUILD`, `ERROR`, …: Neutron's word, upper case. */
  readonly status: string;
  /** The server it is attached to; '' = attached to nothing. */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly createdAt: string | undefined;
  readonly revisionNumber: number;
  readonly projectId: string;
  readonly fixedIps: readonly FixedIp[];
  /** The field that cannot be read, and why: of the others only `id` and `deviceId` hold then. undefined: all are read. */
  readonly flaw?: string;
}

export interface HostRoute {
  readonly destination: string;
  readonly nexthop: string;
}

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
  /** Nova's word: `ACTIVE`, `SHUTOFF`, `DELETED`, … */
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly projectId: string;
  /** The field that cannot be read, and why: of the others only `id` holds then. undefined: all are read. */
  readonly flaw?: string;
}

/** A server with Nova's own record of its NICs. */
export interface ServerRecord extends Server {
  /**
   * MACs of the NICs that have an address, lower case; undefined when Nova told none. They come from the info cache that
   * nova-compute keeps from Neutron's events, which may be late. The `os-interface` list is no record: it is Neutron's list
   * with the caller's own token (nova/api/openstack/compute/attach_interfaces.py).
   */
  readonly macAddresses: readonly string[] | undefined;
}

/** The outcome of a read by id: a 404 is an answer, not an error. */
export type Found<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'notFound' };

/** Neutron's port fields that become a Port; asked for by `fields=`, which halves the cost of a list. */
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

// Databases compare ids without case, so that an id may be written otherwise than it is stored.
const id = z.string().min(1).toLowerCase();
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

export const portSchema = z
  .object({
    id,
    name: text,
    network_id: id,
    mac_address: z.string().min(1),
    status: z.string(),
    // Told by its absence from a port, that it is attached to nothing would be evidence: who may not read it gets no port.
    device_id: z.string(),
    device_owner: text,
    created_at: z.string().nullish(),
    revision_number: z.number().int().default(0),
    project_id: text,
    fixed_ips: z.array(z.object({ subnet_id: id, ip_address: z.string().min(1) })),
  })
  .transform(
    (wire): Port => ({
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
    }),
  );

const identity = z.object({ id: id.catch(''), device_id: text.catch('') });

/** A listed port with an unreadable field. */
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

/** A server with an unreadable field. */
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
  // 0: the network has no MTU of its own (neutron-lib, api/definitions/network_mtu.py).
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

/** A server of a list by tags; Nova lists `tags` from microversion 2.26 on. */
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
  const macs = Object.values(addresses).flat();
  return [...new Set(macs.map((address) => address['OS-EXT-IPS-MAC:mac_addr']))];
}
