import { isAfterBaseline } from './baseline.ts';
import type { FixedIp, Port } from './observation.ts';
import type { Selection } from './plan.ts';
import type { SubnetFacts } from './subnet-facts.ts';
import type { View } from './view.ts';

/** The address by which a port is selected. */
export interface Match {
  readonly kind: 'match';
  /** Place of the subnet in the selector. */
  readonly rank: number;
  readonly subnet: SubnetFacts;
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
  let best: Match | undefined;
  for (const fixedIp of port.fixedIps) {
    const rank = view.rank.get(fixedIp.subnetId);
    if (rank === undefined) continue;
    const subnet = view.subnets.get(fixedIp.subnetId);
    if (subnet === undefined) return { kind: 'unknown' };
    if (subnet.networkId !== port.networkId || subnet.ipVersion !== 4) continue;
    const match = { kind: 'match', rank, subnet, fixedIp } as const;
    if (best === undefined || isBetter(match, best, delivered)) best = match;
  }
  return best ?? { kind: 'none' };
}

function isBetter(match: Match, best: Match, delivered: string | undefined): boolean {
  if (best.fixedIp.ipAddress === delivered) return false;
  return match.fixedIp.ipAddress === delivered || match.rank < best.rank;
}

/** Whether a port of this status is delivered; a port without a status is. */
export function isAllowedStatus({ status }: Port, { statuses }: Selection): boolean {
  return statuses === 'any' || status === '' || statuses.includes(status.toUpperCase());
}

/** Whether a port that is not delivered may become a NIC, its subnet aside; one that was is not too old for it. */
export function isNewcomer(port: Port, selection: Selection, wasDelivered: boolean): boolean {
  const isYoung = isAfterBaseline(port.createdAt, selection.createdAfter);
  return isAllowedStatus(port, selection) && (wasDelivered || isYoung);
}
