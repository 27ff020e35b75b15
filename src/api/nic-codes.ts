/** Cases of a reason that a user interface explains differently; `code` in a NIC's result. */
export const nicCodes = [
  /** PathBypassed: a rule sends packets from the NIC's address by another link. */
  'RuleToOtherLink',
  /** PathBypassed: a rule drops packets from the NIC's address. */
  'RuleDropsPackets',
  /** PathBypassed: no foreign rule decides, but a route leads to another link. */
  'RouteToOtherLink',
  /** PathBypassed: no route leads from the NIC's address to the destination. */
  'NoRouteFromAddress',
  /** NodePathTaken: the Service address of the API server. */
  'ServiceByNic',
  /** NodePathTaken: an endpoint of the API server. */
  'EndpointByNic',
  /** NodePathTaken: the node's default gateway. */
  'GatewayByNic',
  /** VerifyFailed: the link has the flag NOARP. */
  'ArpOff',
  /** VerifyFailed: arp_ignore is 8. */
  'ArpIgnored',
  /** VerifyFailed: the local table has no entry for an address. */
  'LocalEntryMissing',
  /** NodeConnectivityLost: the Service address of the API server. */
  'ServiceUnreachable',
  /** NodeConnectivityLost: an endpoint of the API server. */
  'EndpointUnreachable',
] as const;

export type NicCode = (typeof nicCodes)[number];

/** Case of a reason, with the values in the message. */
export interface Coded {
  readonly code: NicCode;
  /** Pairs `key=value`, separated by spaces. */
  readonly args: string;
}

/** Limit in bytes for `args`. */
const maxArgs = 60;

/** Returns a case with its values; values beyond the limit are left out. */
export function coded(code: NicCode, values: Readonly<Record<string, string | number>>): Coded {
  let args = '';
  for (const [key, value] of Object.entries(values)) {
    const longer = `${args}${args && ' '}${key}=${String(value).replaceAll(/\s+/g, '_')}`;
    if (Buffer.byteLength(longer) <= maxArgs) args = longer;
  }
  return { code, args };
}
