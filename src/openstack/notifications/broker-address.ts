/** Broker address. */
export interface BrokerAddress {
  /** Host name or address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

const plainPort = 5672;
const tlsPort = 5671;

const form =
  /^(?:(?:amqp|rabbit|(?<secure>amqps)):\/\/)?(?<host>[\w.-]+|\[[\da-f:.]+\])(?::(?<port>\d+))?(?:\/.*)?$/i;

/**
 * Parses a broker host from Contrabass: `host`, `host:port`, or a URL (`amqp`, `rabbit`; `amqps` and port 5671 mean
 * TLS). Returns undefined for other text and for URLs with a user name; the URL's path is ignored.
 */
export function brokerAddress(text: string): BrokerAddress | undefined {
  const { secure, host, port: given } = form.exec(text)?.groups ?? {};
  if (host === undefined) return undefined;
  const port = Number(given ?? (secure ? tlsPort : plainPort));
  // Also rejects addresses like 10.0.0.256 and ports above 65535.
  if (port < 1 || !URL.canParse(`http://${host}:${port}`)) return undefined;
  const isBare = !text.includes('://');
  const tls = secure !== undefined || (isBare && port === tlsPort);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port, tls };
}

/**
 * Returns the address in the form used by the operator's ALLOWED_ENDPOINTS: host and port, independent from the
 * protocol.
 */
export function placeOf(address: BrokerAddress): URL {
  return new URL(`http://${brokerText(address)}`);
}

/** Returns the address for messages and metrics. */
export function brokerText({ host, port }: BrokerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
