import { isIPv4, overlaps } from '../api/address.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Subnet } from './observation.ts';
import { compareText } from './text-order.ts';

/** A subnet with what its NICs have in common, worked out once for all of them. */
export interface SubnetFacts extends Subnet {
  /** Length of the prefix, as it stands in the cidr. */
  readonly prefix: string;
  /** `gateway` and `routes` of an entry, as far as there are any. */
  readonly shared: Pick<InterfaceSpec, 'gateway' | 'routes'>;
}

export function subnetFacts(subnet: Subnet): SubnetFacts {
  const { cidr, gatewayIp } = subnet;
  const routes = routesOf(subnet);
  return {
    ...subnet,
    prefix: cidr.split('/')[1] ?? '32',
    shared: {
      ...(gatewayIp !== undefined && isIPv4(gatewayIp) ? { gateway: gatewayIp } : {}),
      ...(routes.length > 0 ? { routes } : {}),
    },
  };
}

/**
 * Neutron's host routes that a NIC's own table can hold: the default is the gateway's, and a next hop outside of the
 * subnet is one the kernel refuses.
 */
function routesOf({ hostRoutes, cidr }: Subnet) {
  return hostRoutes
    .filter(({ destination, nexthop }) => {
      const [ip = '', prefix = '0'] = destination.split('/');
      return isIPv4(ip) && prefix !== '0' && isIPv4(nexthop) && overlaps(`${nexthop}/32`, cidr);
    })
    .map(({ destination, nexthop }) => ({ to: destination, via: nexthop }))
    .toSorted((a, b) => compareText(`${a.to} ${a.via}`, `${b.to} ${b.via}`));
}
