/** Ready reasons without any port decision in the OpenstackConfig's sync. */
export const syncReasons: ReadonlySet<string> = new Set([
  'ConfigError',
  'ContrabassError',
  'Deleting',
  'DeletionDelayed',
  'Error',
  'KeystoneError',
  'NeutronEndpointError',
  'NeutronPortError',
  'NeutronSubnetError',
  'PolicyDenied',
  'ProviderUnavailable',
  'SubnetRequired',
]);

/** Ready reasons about some servers or subnets; the sync decides about all remaining ports. */
export const partialReasons: ReadonlySet<string> = new Set([
  'NovaServerError',
  'ServerNotFound',
  'ServerNotUnique',
  'ServerSoftDeleted',
  'SubnetNotFound',
  'SubnetNotUnique',
]);

/** Ready reasons about delivery to the business cluster. */
export const deliveryReasons: ReadonlySet<string> = new Set([
  'Deleting',
  'DeletionDelayed',
  'RemovalHeld',
  'RemovalUnconfirmed',
  'RemovalUnsupported',
  'ViolaPostError',
  'Waiting',
]);
