import type { PortReason } from '../../plan/plan.ts';

/** Explaining step per verdict reason; a new reason without a step does not compile. */
const stepOf: Readonly<Record<PortReason, 'Filter' | 'Assignment' | 'Selection' | 'Neutron'>> = {
  FamilyNotWanted: 'Filter',
  InterfaceLimitExceeded: 'Filter',
  InvalidPort: 'Filter',
  NetworkUnread: 'Filter',
  NeutronSubnetError: 'Filter',
  PortStatus: 'Filter',
  PortTooOld: 'Filter',
  PortWithoutAddress: 'Filter',
  SubnetOverlapsCluster: 'Filter',
  PortNotPlugged: 'Neutron',
  SubnetNotSelected: 'Selection',
  InvalidNodeName: 'Assignment',
  NameConflict: 'Assignment',
  NeutronPortError: 'Assignment',
  NovaServerError: 'Assignment',
  RemovalHeld: 'Assignment',
  RemovalUnconfirmed: 'Assignment',
  ServerNotFound: 'Assignment',
  ServerSoftDeleted: 'Assignment',
  Waiting: 'Assignment',
  WaitingForName: 'Assignment',
};

function stepFor(reason: string) {
  return Object.hasOwn(stepOf, reason) ? stepOf[reason as PortReason] : undefined;
}

export function isFilterReason(reason: string): boolean {
  return stepFor(reason) === 'Filter';
}

/** True for claim and name reasons, and for unknown reasons from a newer operator. */
export function isAssignmentReason(reason: string): boolean {
  return (stepFor(reason) ?? 'Assignment') === 'Assignment';
}
