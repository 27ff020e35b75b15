import { BlockList, isIP, isIPv4 } from 'node:net';

/** A proxy for a request. */
export interface Proxy {
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string;
  /** `Proxy-Authorization` header value, if the proxy requires authentication. */
  readonly authorization: string | undefined;
}

/** Returns the proxy for a URL; undefined = direct connection. */
export type ProxyOf = (url: URL) => Proxy | undefined;

export const directly: ProxyOf = () => undefined;

export interface ProxySettings {
  /** URLs, optionally with user and password. */
  readonly httpProxy: string | undefined;
  readonly httpsProxy: string | undefined;
  /** `user:password`, for proxy URLs without a user. */
  readonly proxyCredentials: string | undefined;
  /** Hosts, domains, addresses and networks, each optionally with a port; or `*`. */
  readonly noProxy: readonly string[];
}

/** Hosts in this machine or cluster, unreachable through a proxy. */
const inside = ['localhost', '.localhost', '127.0.0.0/8', '::1', '.svc', '.cluster.local'];

/** Returns the proxy for each URL, like curl and Go with HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export function proxiesOf(settings: ProxySettings): ProxyOf {
  const { proxyCredentials: credentials } = settings;
  const http = proxyAt(settings.httpProxy, credentials);
  const https = proxyAt(settings.httpsProxy, credentials);
  const exceptions = [...inside, ...settings.noProxy].map(exception);
  return (url) => {
    const proxy = url.protocol === 'https:' ? https : http;
    return proxy && exceptions.some((matches) => matches(url)) ? undefined : proxy;
  };
}

function proxyAt(text: string | undefined, credentials: string | undefined): Proxy | undefined {
  if (text === undefined) return undefined;
  const { origin, username, password } = new URL(text);
  const named =
    username === '' ? credentials : [username, password].map(decodeURIComponent).join(':');
  const authorization = named && `Basic ${Buffer.from(named).toString('base64')}`;
  return { origin, authorization };
}

/** Returns a function that matches URLs against a NO_PROXY entry. */
function exception(entry: string): (url: URL) => boolean {
  if (entry === '*') return () => true;
  const [, place = entry, port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  const matchesHost = hostMatcher(place.replace(/^\[|\]$/g, '').toLowerCase());
  return (url) => (port === undefined || port === portOf(url)) && matchesHost(hostOf(url));
}

function hostMatcher(place: string): (host: string) => boolean {
  const [address = '', bits] = place.split('/');
  if (isIP(address) !== 0) return isIn(address, bits);
  const domain = place.replace(/^\*?\./, '');
  // A leading dot matches only subdomains.
  const matchesItself = domain === place;
  return (host) => host.endsWith(`.${domain}`) || (matchesItself && host === domain);
}

/** Names are not resolved: only literal addresses match a network. */
function isIn(address: string, bits: string | undefined): (host: string) => boolean {
  const [family, maxBits] = isIPv4(address) ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const list = new BlockList();
  list.addSubnet(address, Number(bits ?? maxBits), family);
  // Names and addresses from the other family never match.
  return (host) => list.check(host, family);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

/** Returns true for a valid NO_PROXY entry: a network's prefix length must fit its family. */
export function isException(entry: string): boolean {
  const [address = '', bits] = entry.replace(/^\[|\]$/g, '').split('/');
  if (/\s/.test(entry)) return false;
  if (bits === undefined) return true;
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits;
}
