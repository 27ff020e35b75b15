import { isAfterBaseline } from './baseline.ts';
import type { FixedIp, Port, Subnet } from './observation.ts';
import type { Selection } from './plan.ts';
import type { View } from './view.ts';

/** The address by which a port is selected. */
export interface Match {
  readonly kind: 'match';
  /** Place of the subnet in the selector. */
  readonly rank: number;
  readonly subnet: Subnet;
  readonly fixedIp: FixedIp;
}

/** How a port stands to the selected subnets. */
export type SubnetMatch =
  | Match
  /** It has an address in a selected subnet that could not be read. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' };

/**
 * The address by which the port is selected: the one in the subnet that comes first in the selector, and of several there
 * the one that was delivered before, else the first that Neutron names.
 */
export function matchSubnet(port: Port, view: View, delivered?: string): SubnetMatch {
  const selected = port.fixedIps.filter(({ subnetId }) => view.rank.has(subnetId));
  if (selected.some(({ subnetId }) => !view.subnets.has(subnetId))) return { kind: 'unknown' };
  const usable = selected.flatMap((fixedIp) => {
    const subnet = view.subnets.get(fixedIp.subnetId);
    const rank = view.rank.get(fixedIp.subnetId) ?? 0;
    const fits = subnet?.networkId === port.networkId && subnet.ipVersion === 4;
    return fits ? [{ kind: 'match' as const, rank, subnet, fixedIp }] : [];
  });
  const kept = usable.find(({ fixedIp }) => fixedIp.ipAddress === delivered);
  return kept ?? usable.toSorted((a, b) => a.rank - b.rank)[0] ?? { kind: 'none' };
}

/** Whether a port of this status is delivered; a port without a status is. */
export function isAllowedStatus({ status }: Port, { statuses }: Selection): boolean {
  return statuses === 'any' || status === '' || statuses.includes(status.toUpperCase());
}

/** Whether a port that is not delivered yet may become a NIC, its subnet aside. */
export function isNewcomer(port: Port, selection: Selection): boolean {
  return (
    isAllowedStatus(port, selection) && isAfterBaseline(port.createdAt, selection.createdAfter)
  );
}
