/** One host of a broker. */
export interface BrokerAddress {
  /** Name or address, an IPv6 one without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

const plainPort = 5672;
const tlsPort = 5671;

const form =
  /^(?:(?:amqp|rabbit|(?<secure>amqps)):\/\/)?(?<host>[\w.-]+|\[[\da-f:.]+\])(?::(?<port>\d+))?(?:\/.*)?$/i;

/**
 * Reads a host of a broker as Contrabass names it: `host`, `host:port`, or a URL (`amqp`, `rabbit`; `amqps` is TLS, and so
 * is port 5671). Undefined when it is none, or names a user as well; the path of a URL is not looked at.
 */
export function brokerAddress(text: string): BrokerAddress | undefined {
  const { secure, host, port: given } = form.exec(text)?.groups ?? {};
  if (host === undefined) return undefined;
  const port = Number(given ?? (secure ? tlsPort : plainPort));
  // Nor are 10.0.0.256 and ports beyond 65535.
  if (port < 1 || !URL.canParse(`http://${host}:${port}`)) return undefined;
  const isBare = !text.includes('://');
  const tls = secure !== undefined || (isBare && port === tlsPort);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port, tls };
}

/** As the operator's ALLOWED_ENDPOINTS name it: a broker is a host and a port, with whatever it speaks there. */
export function placeOf(address: BrokerAddress): URL {
  return new URL(`http://${brokerText(address)}`);
}

/** For people and metrics. */
export function brokerText({ host, port }: BrokerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
