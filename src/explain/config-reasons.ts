/** Reasons of Ready for which the sync of an OpenstackConfig decides about no port. */
export const syncReasons: ReadonlySet<string> = new Set([
  'ConfigError',
  'ContrabassError',
  'Deleting',
  'Error',
  'KeystoneError',
  'NeutronEndpointError',
  'NeutronPortError',
  'NeutronSubnetError',
  'PolicyDenied',
  'ProviderUnavailable',
  'SubnetRequired',
]);

/** Reasons about some servers or subnets: the sync decides about the others. */
export const partialReasons: ReadonlySet<string> = new Set([
  'NovaServerError',
  'ServerNotFound',
  'ServerNotUnique',
  'SubnetNotFound',
  'SubnetNotUnique',
]);

/** Reasons of Ready about the way to the business cluster. */
export const deliveryReasons: ReadonlySet<string> = new Set([
  'Deleting',
  'RemovalHeld',
  'RemovalUnconfirmed',
  'RemovalUnsupported',
  'ViolaPostError',
  'Waiting',
]);
