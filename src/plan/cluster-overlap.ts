import { networkOf } from '../api/address.ts';
import {
  type ClusterNetwork,
  clusterNetworkText,
  clusterOverlap,
} from '../api/cluster-networks.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Problem } from './plan.ts';

/**
 * Returns why the entry must not be delivered: a subnet, or a route in the main table, overlaps the cluster's Services
 * or Pods. Networks that the delivered entry reaches already are no reason.
 */
export function clusterOverlapOf(
  portId: string,
  entry: InterfaceSpec,
  networks: readonly ClusterNetwork[] = [],
  delivered?: InterfaceSpec,
): Problem | undefined {
  const found = clusterOverlap(reachedBy(entry), delivered ? reachedBy(delivered) : [], networks);
  if (!found) return undefined;
  const subject = `port ${portId}`;
  const overlap = `${networkOf(found.reached)} overlaps ${clusterNetworkText(found.network)}`;
  const message = `${subject} cannot be a NIC of its node: ${overlap}; use another subnet or route, or correct controller.serviceCIDRs or controller.podNetworks in the business cluster`;
  return { reason: 'SubnetOverlapsCluster', subject, message };
}

/** Returns the subnets, and the routes that the main table would have. */
function reachedBy({ cidr, addresses = [], routes = [], subnets = [], routing }: InterfaceSpec) {
  const all = [...routes, ...subnets.flatMap((subnet) => subnet.routes ?? [])];
  return [
    ...(cidr ? [cidr] : []),
    ...addresses,
    ...(routing === 'main' ? all.map(({ to }) => to) : []),
  ];
}
