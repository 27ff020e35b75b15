import { isIPv4 } from '../api/address.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { interfaceName } from '../api/names.ts';
import type { FixedIp, Port } from './observation.ts';
import type { Match } from './port-match.ts';
import { compareText } from './text-order.ts';
import type { View } from './view.ts';

/** The entry of a port, or what has to be read before there can be one. */
export type Entry =
  | { readonly kind: 'entry'; readonly entry: InterfaceSpec }
  | { readonly kind: 'missing'; readonly what: string };

/**
 * Builds the entry of a port in the form every deployed reader understands: cidr in network form, mtu and name always,
 * IPv4 in `address`.
 */
export function entryOf(port: Port, match: Match, index: number, view: View): Entry {
  const network = view.networks.get(port.networkId);
  if (network === undefined) return missing(`network ${port.networkId} could not be read`);
  if (network.mtu === undefined) return missing(`network ${port.networkId} has no MTU`);
  const { subnet, fixedIp } = match;
  const others = port.fixedIps.filter((ip) => ip !== fixedIp && isIPv4(ip.ipAddress));
  const unread = others.find(({ subnetId }) => !view.subnets.has(subnetId));
  if (unread) return missing(`subnet ${unread.subnetId} could not be read`);
  const entry: InterfaceSpec = {
    id: index,
    name: interfaceName(index),
    portId: port.id,
    macAddress: port.macAddress.toLowerCase(),
    address: fixedIp.ipAddress,
    cidr: subnet.cidr,
    mtu: network.mtu,
    addresses: [
      withPrefix(fixedIp, view),
      ...others.map((ip) => withPrefix(ip, view)).toSorted(compareText),
    ],
    ...subnet.shared,
    networkId: port.networkId,
    subnetId: subnet.id,
  };
  return { kind: 'entry', entry };
}

function missing(what: string): Entry {
  return { kind: 'missing', what };
}

function withPrefix({ ipAddress, subnetId }: FixedIp, view: View): string {
  return `${ipAddress}/${view.subnets.get(subnetId)?.prefix ?? '32'}`;
}
