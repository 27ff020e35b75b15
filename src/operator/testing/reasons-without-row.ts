/** Reasons that status/reasons.test.ts leaves to other tests. */
export const withoutRow = [
  'ClusterIdentityUnread',
  // Tested in deletion/succession.test.ts.
  'DeletionDelayed',
  // Tested in other-cluster.test.ts.
  'OwnerUnverified',
  'ProviderUnavailable',
  'SecretNotOurs',
  // Port reasons in status.unusedPorts; tested in plan/port-verdict.test.ts.
  'PortTooOld',
  'PortStatus',
  'SubnetNotSelected',
  'FamilyNotWanted',
  'PortWithoutAddress',
  'PortNotPlugged',
  'NetworkUnread',
  'WaitingForName',
  // Tested in selected-servers.test.ts.
  'ServerSoftDeleted',
  // Of Events only; tested in check-nodes/check-nodes.test.ts.
  'ChecksRequested',
  'CheckNodesRefused',
] as const;
