import { argsText } from './args.ts';

/** Cases per reason, for explanations by user interfaces: `code` in a NIC's result, texts in `texts/nic-codes.ts`. */
export const nicCodes = [
  'RuleToOtherLink',
  'RuleDropsPackets',
  'RouteToOtherLink',
  'NoRouteFromAddress',
  'ServiceByNic',
  'EndpointByNic',
  'GatewayByNic',
  'ArpOff',
  'ArpIgnored',
  'LocalEntryMissing',
  'ServiceUnreachable',
  'EndpointUnreachable',
  'SendsWithOtherMac',
  'NodeAddress',
  'NodeDefaultRoute',
  'LeasedAddress',
  'LeasedRoute',
  'NameUnsupported',
  'LinkHasMaster',
  'LinkHasUpper',
  'ForeignAddress',
  'ForeignRoute',
  'ForeignReceiver',
  'NameTaken',
  'AddressElsewhere',
  'FileConfiguresNic',
  'FileMatchesNic',
  'FileUnreadable',
  'FileUnmanaged',
  'FolderMissing',
  'MtuTooSmall',
  'MtuTooLarge',
  'NoIPv6',
  'TableHasForeignRoute',
  'PriorityTaken',
  'OverlapsNodeAddress',
  'OverlapsNetwork',
  'OverlapsClusterNetwork',
  'NotNamed',
  'LinkPresent',
  'HeldNicHas',
  'AdoptionRefused',
  'BusMissing',
  'BusFailed',
] as const;

export type NicCode = (typeof nicCodes)[number];

/** Case of a reason, with the values in the message. */
export interface Coded {
  readonly code: NicCode;
  /** Pairs `key=value`, separated by spaces. */
  readonly args: string;
}

/** Returns a case with its values. */
export function coded(code: NicCode, values: Readonly<Record<string, string | number>>): Coded {
  return { code, args: argsText(values) };
}
