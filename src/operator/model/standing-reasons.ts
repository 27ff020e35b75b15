import type { OperatorReason } from '../../api/reasons.ts';

/**
 * Reasons that only a user can resolve, in OpenStack or in the object. Checking for the user's change is polling; every
 * other reason resolves without a user.
 */
export const standing: ReadonlySet<string> = new Set<OperatorReason>([
  'ConfigError',
  'PolicyDenied',
  'SubnetRequired',
  'SubnetNotFound',
  'SubnetNotUnique',
  'ServerNotFound',
  'ServerNotUnique',
  'ServerSoftDeleted',
  'InterfaceLimitExceeded',
  'NameConflict',
  'InvalidNodeName',
  'InvalidPort',
  'SubnetOverlapsCluster',
  'RemovalHeld',
  'RemovalUnsupported',
]);
