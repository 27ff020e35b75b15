import { createHost, type NamespaceHost } from '../hosts/namespace/host.ts';
import type { Tenant } from '../openstack/tenant.ts';

/** One server of a cloud and the host that stands for it. */
export interface Machine {
  readonly name: string;
  readonly serverId: string;
  readonly host: NamespaceHost;
}

/** The network whose ports become NICs. */
export interface DataNetwork {
  readonly networkId: string;
  readonly subnetId: string;
}

/** Makes the network that servers boot with, and the one whose ports become NICs. */
export async function makeNetworks(tenant: Tenant) {
  const primary = await tenant.createNetwork({ name: 'primary' });
  await tenant.createSubnet({ networkId: primary.id, cidr: '10.200.0.0/16' });
  const network = await tenant.createNetwork({ name: 'data', mtu: 1450 });
  const { id: subnetId } = await tenant.createSubnet({
    networkId: network.id,
    cidr: '10.0.0.0/24',
    gatewayIp: '10.0.0.254',
  });
  const data: DataNetwork = { networkId: network.id, subnetId };
  return { primaryId: primary.id, data };
}

/** Boots servers in the primary network, each with a host; the stack takes the hosts down. */
export async function bootMachines(
  names: readonly string[],
  { tenant, primaryId }: { readonly tenant: Tenant; readonly primaryId: string },
  stack: AsyncDisposableStack,
): Promise<Machine[]> {
  return Promise.all(
    names.map(async (name) => {
      const [{ id }, host] = await Promise.all([
        tenant.createServer({ name, networkIds: [primaryId] }),
        createHost(name).then((it) => stack.use(it)),
      ]);
      return { name, serverId: id, host };
    }),
  );
}
