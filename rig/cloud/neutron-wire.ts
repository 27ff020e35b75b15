import type { Network, Subnet } from './networks.ts';
import type { Port } from './ports.ts';

type Wire = Readonly<Record<string, unknown>>;

/** A port as a member sees it: of `binding:*` only the vnic type. */
export function portWire(port: Port): Wire {
  return {
    id: port.id,
    name: port.name,
    network_id: port.networkId,
    tenant_id: port.projectId,
    mac_address: port.macAddress,
    admin_state_up: port.adminStateUp,
    status: port.status,
    device_id: port.deviceId,
    device_owner: port.deviceOwner,
    fixed_ips: port.fixedIps.map((ip) => ({ subnet_id: ip.subnetId, ip_address: ip.ipAddress })),
    allowed_address_pairs: [],
    extra_dhcp_opts: [],
    security_groups: [],
    description: '',
    'binding:vnic_type': 'normal',
    port_security_enabled: true,
    tags: [],
    created_at: seconds(port.createdAt),
    updated_at: seconds(port.updatedAt),
    revision_number: port.revision,
    project_id: port.projectId,
  };
}

export function subnetWire(subnet: Subnet): Wire {
  return {
    id: subnet.id,
    name: subnet.name,
    tenant_id: subnet.projectId,
    network_id: subnet.networkId,
    ip_version: subnet.pool.range.version,
    subnetpool_id: null,
    enable_dhcp: true,
    ipv6_ra_mode: null,
    ipv6_address_mode: null,
    gateway_ip: subnet.gatewayIp,
    cidr: subnet.cidr,
    host_routes: subnet.hostRoutes,
    dns_nameservers: [],
    description: '',
    service_types: [],
    tags: [],
    created_at: seconds(subnet.createdAt),
    updated_at: seconds(subnet.createdAt),
    revision_number: 0,
    project_id: subnet.projectId,
  };
}

export function networkWire(network: Network, subnetIds: readonly string[]): Wire {
  return {
    id: network.id,
    name: network.name,
    tenant_id: network.projectId,
    admin_state_up: true,
    mtu: network.mtu,
    status: 'ACTIVE',
    subnets: subnetIds,
    shared: network.shared,
    availability_zone_hints: [],
    availability_zones: [],
    ipv4_address_scope: null,
    ipv6_address_scope: null,
    'router:external': false,
    description: '',
    port_security_enabled: true,
    tags: [],
    created_at: seconds(network.createdAt),
    updated_at: seconds(network.createdAt),
    revision_number: 1,
    project_id: network.projectId,
  };
}

// OpenStack's times have no fractions of a second.
export function seconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
