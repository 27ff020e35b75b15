// Addresses come through a schema that checked them, so these read them without checking once more; as numbers, since a
// plan compares every address with every other.

/** The address of `ip/prefix`, without the prefix. */
export function ipOf(cidr: string): string {
  const slash = cidr.indexOf('/');
  return slash < 0 ? cidr : cidr.slice(0, slash);
}

/** The prefix length of `ip/prefix`. */
export function prefixOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}

/** The network that `ip/prefix` is in: 10.0.0.7/24 is in 10.0.0.0/24. */
export function networkOf(cidr: string): string {
  const prefix = prefixOf(cidr);
  return `${textOf(masked(ipOf(cidr), prefix))}/${prefix}`;
}

/** Broadcast address of the network of `ip/prefix`; networks of one or two addresses have none (RFC 3021). */
export function broadcastOf(cidr: string): string | undefined {
  const prefix = prefixOf(cidr);
  if (prefix > 30) return undefined;
  return textOf(masked(ipOf(cidr), prefix) + 2 ** (32 - prefix) - 1);
}

/** Whether the IPv4 address is in the network of `ip/prefix`. */
export function contains(cidr: string, ip: string): boolean {
  const prefix = prefixOf(cidr);
  return masked(ip, prefix) === masked(ipOf(cidr), prefix);
}

/** Whether two IPv4 networks (`ip/prefix`) share an address: then one of them is in the other. */
export function overlaps(a: string, b: string): boolean {
  return prefixOf(a) <= prefixOf(b) ? contains(a, ipOf(b)) : contains(b, ipOf(a));
}

function masked(ip: string, prefix: number): number {
  const size = 2 ** (32 - prefix);
  return Math.floor(numberOf(ip) / size) * size;
}

function numberOf(ip: string): number {
  return ip.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
