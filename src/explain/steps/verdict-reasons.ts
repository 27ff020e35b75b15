import type { PortReason } from '../../plan/plan.ts';

/** Step that explains each reason of a verdict; a new reason does not compile without one. */
const stepOf: Readonly<Record<PortReason, 'Filter' | 'Assignment' | 'Selection' | 'Neutron'>> = {
  FamilyNotWanted: 'Filter',
  InterfaceLimitExceeded: 'Filter',
  InvalidPort: 'Filter',
  NetworkUnread: 'Filter',
  NeutronSubnetError: 'Filter',
  PortStatus: 'Filter',
  PortTooOld: 'Filter',
  PortWithoutAddress: 'Filter',
  PortNotPlugged: 'Neutron',
  SubnetNotSelected: 'Selection',
  InvalidNodeName: 'Assignment',
  NameConflict: 'Assignment',
  NeutronPortError: 'Assignment',
  NovaServerError: 'Assignment',
  RemovalHeld: 'Assignment',
  RemovalUnconfirmed: 'Assignment',
  ServerNotFound: 'Assignment',
  Waiting: 'Assignment',
  WaitingForName: 'Assignment',
};

function stepFor(reason: string) {
  return Object.hasOwn(stepOf, reason) ? stepOf[reason as PortReason] : undefined;
}

export function isFilterReason(reason: string): boolean {
  return stepFor(reason) === 'Filter';
}

/** True for reasons of claims and names, and for reasons of a later operator. */
export function isAssignmentReason(reason: string): boolean {
  return (stepFor(reason) ?? 'Assignment') === 'Assignment';
}
