import { type CloudAccess, openTenant, type Tenant } from '../../../rig/openstack/tenant.ts';

/** Data port, with the name of its link as cloud-init finds it. */
interface DataPort {
  readonly link: string;
  readonly mac: string;
  readonly address: string;
}

/** Server with its data ports since its creation. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly ports: readonly DataPort[];
}

export interface CreatedServers {
  readonly tenant: Tenant;
  readonly subnetIds: readonly string[];
  readonly servers: readonly Server[];
}

const links = ['ens4', 'ens5'];
/** MTU of the data networks. */
export const mtu = 1450;

/** Creates servers with a port in each of two data networks. */
export async function createServers(
  cloud: CloudAccess,
  count: number,
  stack: AsyncDisposableStack,
): Promise<CreatedServers> {
  const tenant = stack.use(await openTenant(cloud, 'fleet'));
  const networks = await Promise.all(
    links.map(async (link, at) => {
      const { id } = await tenant.createNetwork({ name: link, mtu });
      const cidr = `10.${77 + at}.0.0/24`;
      const subnet = await tenant.createSubnet({ networkId: id, cidr, gatewayIp: null });
      return { id, link, subnetId: subnet.id };
    }),
  );
  const servers = Array.from({ length: count }, async (_, at) => {
    const made = await Promise.all(networks.map(({ id }) => tenant.createPort({ networkId: id })));
    const name = `worker-${String(at + 1).padStart(2, '0')}`;
    const { id } = await tenant.createServer({ name, portIds: made.map((port) => port.id) });
    const ports = made.map(({ mac_address: mac, fixed_ips: ips }, index) => ({
      link: links[index] ?? '',
      mac,
      address: ips[0]?.ip_address ?? '',
    }));
    return { id, name, ports };
  });
  return {
    tenant,
    subnetIds: networks.map(({ subnetId }) => subnetId),
    servers: await Promise.all(servers),
  };
}
