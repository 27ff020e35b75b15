import { BlockList, isIP, isIPv4 } from 'node:net';

/** A proxy that a request goes through. */
export interface Proxy {
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string;
  /** Value of `Proxy-Authorization`, if it wants to know who asks. */
  readonly authorization: string | undefined;
}

/** The proxy to a URL; undefined = it is reached directly. */
export type ProxyOf = (url: URL) => Proxy | undefined;

export const directly: ProxyOf = () => undefined;

export interface ProxySettings {
  /** URLs, possibly with user and password. */
  readonly httpProxy: string | undefined;
  readonly httpsProxy: string | undefined;
  /** `user:password`, for proxies whose URL names nobody. */
  readonly proxyCredentials: string | undefined;
  /** Hosts, domains, addresses and networks, each possibly with a port; or `*`. */
  readonly noProxy: readonly string[];
}

/** What is in this machine or this cluster; no proxy knows the way there. */
const inside = ['localhost', '.localhost', '127.0.0.0/8', '::1', '.svc', '.cluster.local'];

/** Which proxy is for which URL, as curl and Go understand HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export function proxiesOf(settings: ProxySettings): ProxyOf {
  const { proxyCredentials: credentials } = settings;
  const http = proxyAt(settings.httpProxy, credentials);
  const https = proxyAt(settings.httpsProxy, credentials);
  const exceptions = [...inside, ...settings.noProxy].map(exception);
  return (url) => {
    const proxy = url.protocol === 'https:' ? https : http;
    return proxy && exceptions.some((isMeant) => isMeant(url)) ? undefined : proxy;
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

/** Whether an entry of NO_PROXY means a URL. */
function exception(entry: string): (url: URL) => boolean {
  if (entry === '*') return () => true;
  const [, place = entry, port] = /^(\[.*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  const isPlace = placeOf(place.replace(/^\[|\]$/g, '').toLowerCase());
  return (url) => (port === undefined || port === portOf(url)) && isPlace(hostOf(url));
}

function placeOf(place: string): (host: string) => boolean {
  const [address = '', bits] = place.split('/');
  if (isIP(address) !== 0) return isIn(address, bits);
  const domain = place.replace(/^\*?\./, '');
  // With a dot before it, a domain means what is below it.
  const isItself = domain === place;
  return (host) => host.endsWith(`.${domain}`) || (isItself && host === domain);
}

/** Names are not looked up: only what a URL has as an address is in a network. */
function isIn(address: string, bits: string | undefined): (host: string) => boolean {
  const [family, most] = isIPv4(address) ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const list = new BlockList();
  list.addSubnet(address, Number(bits ?? most), family);
  // A name, and an address of the other family, is none.
  return (host) => list.check(host, family);
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

/** Whether a text can be an entry of NO_PROXY: a network has as many bits as there are. */
export function isException(entry: string): boolean {
  const [address = '', bits] = entry.replace(/^\[|\]$/g, '').split('/');
  if (/\s/.test(entry)) return false;
  if (bits === undefined) return true;
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}
